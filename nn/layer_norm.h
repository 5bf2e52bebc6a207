// LayerNorm: y = (x − mean) / √(var + eps) · weight + bias (Ba, Kiros & Hinton 2016).
#pragma once

#include "module.h"

namespace isobar {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;  // false: no weight and no bias
  bool bias = true;
};

// Mean and population variance are taken over all of normalized_shape, the last dimensions of x. weight
// starts at 1, bias at 0, both of that shape.
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

}  // namespace isobar
