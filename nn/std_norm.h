// StdNorm: y = x / √(var + eps) · weight, LayerNorm without its subtraction of the mean: it divides by the
// standard deviation but does not centre. RMSNorm differs in its divisor, which includes the mean.
#pragma once

#include "module.h"
#include "normalized_axes.h"

namespace isobar {

struct StdNormOptions {
  double eps = 1e-5;
};

// The population variance is taken over all of normalized_shape, the last dimensions of x; weight starts at
// 1, of that shape. A row of equal elements has variance 0: y = x / √eps there.
struct StdNorm : Module {
  double eps;
  Tensor weight;

  explicit StdNorm(const Shape& normalized_shape, StdNormOptions options = {})
      : eps(options.eps), weight(ones(normalized_shape).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const std::vector<int> axes = normalized_axes("std_norm", x, weight.shape());
    return x / sqrt(var(x, axes, true, 0) + eps) * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

}  // namespace isobar
