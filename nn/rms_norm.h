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

// Options of PRMSNorm.
struct PRMSNormOptions {
  double p = 0.0625;  // fraction of the elements that are measured, in (0, 1]
  double eps = 1e-5;
};

// PRMSNorm: RMSNorm whose root mean square is estimated from a fraction p of the elements (Zhang & Sennrich
// 2019, section 4.2): y = x / √(mean of x² over the first ⌊d p⌋ elements + eps) · weight. weight has the
// shape normalized_shape and starts at 1. Throws Error if p selects no element.
struct PRMSNorm : Module {
  double eps;
  int64_t measured;  // ⌊d p⌋
  Tensor weight;

  explicit PRMSNorm(const Shape& normalized_shape, PRMSNormOptions options = {})
      : eps(options.eps),
        measured(static_cast<int64_t>(static_cast<double>(normalized_shape.numel()) * options.p)),
        weight(ones(normalized_shape).set_trainable()) {
    check(measured >= 1 && measured <= normalized_shape.numel(),
          "p_rms_norm: p = {} of {} elements leaves {} to measure; choose p so that it is at least 1 "
          "and at most all",
          options.p, normalized_shape.numel(), measured);
  }

  Tensor forward(const Tensor& x) override { return rms_norm(x, weight.shape(), weight, eps, measured); }
  void fields(Fields& f) override { f("weight", weight); }
};

}  // namespace isobar
