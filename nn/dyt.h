// DyT: y = tanh(alpha x) · weight + bias, an elementwise replacement for a norm (Zhu et al. 2025).
#pragma once

#include "module.h"

namespace isobar {

struct DyTOptions {
  double alpha = 0.5;  // initial value
  bool bias = true;    // the authors' LLaMA variant has no bias
};

// alpha is [1]. weight starts at 1, bias at 0, both of normalized_shape, the last dimensions of x.
struct DyT : Module {
  Tensor alpha, weight, bias;

  explicit DyT(const Shape& normalized_shape, DyTOptions options = {})
      : alpha(full({1}, options.alpha).set_trainable()), weight(ones(normalized_shape).set_trainable()) {
    if (options.bias) bias = zeros(normalized_shape).set_trainable();
  }

  Tensor forward(const Tensor& x) override { return dyt(x, alpha, weight, bias); }
  void fields(Fields& f) override {
    f("alpha", alpha);
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace isobar
