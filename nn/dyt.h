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

// DyTSqrtD: y = √d tanh(inv_rho x / √d) · weight + bias. It is DyT bounded by √d, as RMSNorm is, and it
// solves dy/dx = (1/ρ)(1 − y²/d): RMSNorm's diagonal derivative at a fixed root mean square ρ.
struct DyTSqrtDOptions {
  double inv_rho = 1;  // initial 1/ρ
  bool bias = true;
};

// d is the number of elements of normalized_shape, the last dimensions of x. inv_rho is [1]. weight starts at
// 1, bias at 0, both of normalized_shape.
struct DyTSqrtD : Module {
  Tensor inv_rho, weight, bias;

  explicit DyTSqrtD(const Shape& normalized_shape, DyTSqrtDOptions options = {})
      : inv_rho(full({1}, options.inv_rho).set_trainable()), weight(ones(normalized_shape).set_trainable()) {
    if (options.bias) bias = zeros(normalized_shape).set_trainable();
  }

  Tensor forward(const Tensor& x) override { return dyt_sqrtd(x, inv_rho, weight, bias); }
  void fields(Fields& f) override {
    f("inv_rho", inv_rho);
    f("weight", weight);
    f("bias", bias);
  }
};

}  // namespace isobar
