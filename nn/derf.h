// Derf: y = erf(alpha x + shift) · weight + bias, an elementwise replacement for a norm (Chen et al. 2025,
// "Stronger Normalization-Free Transformers").
#pragma once

#include "module.h"

namespace isobar {

struct DerfOptions {
  double alpha = 0.5;  // initial value
  bool bias = true;
};

// alpha and shift are [1]; shift starts at 0. weight starts at 1, bias at 0, both of normalized_shape, the
// last dimensions of x.
struct Derf : Module {
  Tensor alpha, shift, weight, bias;

  explicit Derf(const Shape& normalized_shape, DerfOptions options = {})
      : alpha(full({1}, options.alpha).set_trainable()),
        shift(zeros({1}).set_trainable()),
        weight(ones(normalized_shape).set_trainable()) {
    if (options.bias) bias = zeros(normalized_shape).set_trainable();
  }

  Tensor forward(const Tensor& x) override { return derf(x, alpha, shift, weight, bias); }
  void fields(Fields& f) override {
    f("alpha", alpha);
    f("shift", shift);
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace isobar
