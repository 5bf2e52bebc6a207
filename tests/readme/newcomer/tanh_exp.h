// TanhExp: y = x tanh(eˣ)                                                                  (Liu & Di 2020, equation 1)
#pragma once

#include <isobar/autograd/pointwise.h>
#include <isobar/nn/module.h>

struct TanhExp : isobar::Module {
  isobar::Tensor forward(const isobar::Tensor& x) override {
    return isobar::pointwise(
        "tanh_exp", [](auto v) { return v * tanh(exp(v)); }, x);
  }
  void fields(isobar::Fields&) override {}
};
