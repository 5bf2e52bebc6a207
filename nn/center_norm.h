// CenterNorm: y = (x − mean) · weight, LayerNorm's centring alone. It is one half of the ablation that asks
// which part of LayerNorm matters; StdNorm is the other half.
#pragma once

#include "module.h"
#include "normalized_axes.h"

namespace isobar {

// The mean is taken over all of normalized_shape, the last dimensions of x; weight starts at 1, of that
// shape. The scale of x passes through: in a deep chain it needs residual branches.
struct CenterNorm : Module {
  Tensor weight;

  explicit CenterNorm(const Shape& normalized_shape) : weight(ones(normalized_shape).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const std::vector<int> axes = normalized_axes("center_norm", x, weight.shape());
    return (x - mean(x, axes, true)) * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

}  // namespace isobar
