// ISRUClip: y = x / √(1 + (x/cap)²), so |y| < cap: the clip that the inverse square root unit (Carlile et al.
// 2017) gives in place of Softcap's tanh.
#pragma once

#include "module.h"

namespace isobar {

// |x| up to 1e19 · cap in f32: beyond, (x/cap)² is infinite and y falls to 0.
struct ISRUClip : Module {
  double cap;  // above 0

  explicit ISRUClip(double bound) : cap(bound) {
    check(cap > 0, "isru_clip: wanted a cap above 0, got {}", cap);
  }
  Tensor forward(const Tensor& x) override { return x / sqrt(square(x / cap) + 1); }
};

}  // namespace isobar
