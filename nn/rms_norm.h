// RMSNorm: y = x / √(mean x² + eps) · weight (Zhang & Sennrich 2019).
#pragma once

#include "module.h"

namespace isobar {

struct RMSNormOptions {
  double eps = 1e-5;  // Llama's norm_eps
  bool elementwise_affine = true;
};

// The mean square is taken over all of normalized_shape, the last dimensions of x; weight starts at 1, of
// that shape.
struct RMSNorm : Module {
  Shape normalized_shape;
  double eps;
  Tensor weight;

  explicit RMSNorm(const Shape& shape, RMSNormOptions options = {})
      : normalized_shape(shape), eps(options.eps) {
    if (options.elementwise_affine) weight = ones(shape).set_trainable();
  }

  Tensor forward(const Tensor& x) override { return rms_norm(x, normalized_shape, weight, eps); }
  void fields(Fields& f) override { f("weight", weight); }
};

}  // namespace isobar
