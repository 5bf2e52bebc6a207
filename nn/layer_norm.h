// LayerNorm, and its two halves for the ablation that asks which part of it matters:
//
//   LayerNorm   y = (x − mean) / √(var + eps) · weight + bias       (Ba, Kiros & Hinton 2016)
//   CenterNorm  y = (x − mean) · weight
//   StdNorm     y = x / √(var + eps) · weight       RMSNorm differs in its divisor, which includes the mean
//
// Mean and population variance are taken over all of normalized_shape, the last dimensions of x. weight
// starts at 1, bias at 0, both of that shape.
#pragma once

#include "module.h"
#include "normalized_axes.h"

namespace isobar {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  // false: no weight and no bias
  bool bias = true;
};

struct LayerNorm : Module {
  Shape normalized_shape;
  double eps;
  Tensor weight, bias;

  explicit LayerNorm(const Shape& shape, LayerNormOptions options = {})
      : normalized_shape(shape), eps(options.eps) {
    if (options.elementwise_affine) weight = ones(shape).set_trainable();
    if (options.elementwise_affine && options.bias) bias = zeros(shape).set_trainable();
  }

  Tensor forward(const Tensor& x) override { return layer_norm(x, normalized_shape, weight, bias, eps); }
  void fields(Fields& f) override {
    f("weight", weight);
    f("bias", bias);
  }
};

// LayerNorm2d: LayerNorm of images over their channels at each position, as ConvNeXt has it (Liu et al. 2022).
// x (N, C, H, W), weight and bias (C). Throws Error for another number of dimensions.
struct LayerNorm2d : LayerNorm {
  explicit LayerNorm2d(int64_t channels, LayerNormOptions options = {}) : LayerNorm(channels, options) {}

  Tensor forward(const Tensor& x) override {
    check(x.ndim() == 4, "layer_norm2d: wanted x (N, C, H, W), got {}", x.shape());
    return permute(LayerNorm::forward(permute(x, {0, 2, 3, 1})), {0, 3, 1, 2});
  }
};

// The scale of x passes through: in a deep chain it needs residual branches.
struct CenterNorm : Module {
  Tensor weight;

  explicit CenterNorm(const Shape& normalized_shape) : weight(ones(normalized_shape).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const std::vector<int> axes = normalized_axes("center_norm", x, weight.shape());
    return (x - mean(x, axes, true)) * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

struct StdNormOptions {
  double eps = 1e-5;
};

// A row of equal elements has variance 0: y = x / √eps there.
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
