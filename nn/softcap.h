// Softcap: y = cap · tanh(x / cap), so |y| < cap (Gemma 2).
#pragma once

#include "module.h"

namespace isobar {

struct Softcap : Module {
  double cap;  // above 0

  explicit Softcap(double bound) : cap(bound) {
    check(cap > 0, "softcap: wanted a cap above 0, got {}", cap);
  }
  Tensor forward(const Tensor& x) override { return softcap(x, cap); }
};

}  // namespace isobar
