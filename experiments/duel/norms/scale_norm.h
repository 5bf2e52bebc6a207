// ScaleNorm: y = g x / ‖x‖, with one number g that starts at √C (Nguyen & Salazar 2019, equation 4). x (…, C), g (1).
#pragma once

#include <isobar/autograd/ops.h>
#include <isobar/nn/module.h>

#include <cmath>

struct ScaleNorm : isobar::Module {
  isobar::Tensor g;

  explicit ScaleNorm(const isobar::Shape& width)
      : g(isobar::full({1}, std::sqrt(static_cast<double>(width.numel()))).set_trainable()) {}
  isobar::Tensor forward(const isobar::Tensor& x) override {
    return g * x / sqrt(sum(square(x), {-1}, true) + 1e-5);
  }
  void fields(isobar::Fields& f) override { f("g", g); }
};
