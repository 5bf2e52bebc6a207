// Elementwise replacements for a norm: y = f(x) · weight + bias, where f knows no other element of its row.
//
//   DyT       f(x) = tanh(alpha x)                  (Zhu et al. 2025)
//   DyTSqrtD  f(x) = √d tanh(inv_rho x / √d)        bounded by √d, as RMSNorm is; it solves
//             dy/dx = (1/ρ)(1 − y²/d), RMSNorm's diagonal derivative at a fixed root mean square ρ
//   DyISRU    f(x) = √d x / √(x² + C)               RMSNorm with the sum of squares of all other elements
//             replaced by one trainable C (Stollenwerk 2025)
//   Derf      f(x) = erf(alpha x + shift)           (Chen et al. 2025, "Stronger Normalization-Free
//             Transformers")
//
// d is the number of elements of normalized_shape, the last dimensions of x. weight starts at 1, bias at 0,
// both of that shape; all other parameters are [1].
#pragma once

#include <cmath>
#include <optional>

#include "module.h"

namespace isobar {

// The weight and bias that these layers share.
struct ElementwiseNorm : Module {
  Tensor weight, bias;

  void fields(Fields& f) override {
    f("weight", weight);
    f("bias", bias);
  }

 protected:
  ElementwiseNorm(const Shape& normalized_shape, bool with_bias)
      : weight(ones(normalized_shape).set_trainable()),
        bias(with_bias ? zeros(normalized_shape).set_trainable() : Tensor()) {}
};

struct DyTOptions {
  double alpha = 0.5;  // initial value
  bool bias = true;    // the authors' LLaMA variant has no bias
};
struct DyT : ElementwiseNorm {
  Tensor alpha;

  explicit DyT(const Shape& normalized_shape, DyTOptions options = {})
      : ElementwiseNorm(normalized_shape, options.bias), alpha(full({1}, options.alpha).set_trainable()) {}

  Tensor forward(const Tensor& x) override { return dyt(x, alpha, weight, bias); }
  void fields(Fields& f) override {
    f("alpha", alpha);
    ElementwiseNorm::fields(f);
  }
};

struct DyTSqrtDOptions {
  double inv_rho = 1;  // initial 1/ρ
  bool bias = true;
};
struct DyTSqrtD : ElementwiseNorm {
  Tensor inv_rho;

  explicit DyTSqrtD(const Shape& normalized_shape, DyTSqrtDOptions options = {})
      : ElementwiseNorm(normalized_shape, options.bias),
        inv_rho(full({1}, options.inv_rho).set_trainable()) {}

  Tensor forward(const Tensor& x) override { return dyt_sqrtd(x, inv_rho, weight, bias); }
  void fields(Fields& f) override {
    f("inv_rho", inv_rho);
    ElementwiseNorm::fields(f);
  }
};

struct DyISRUOptions {
  std::optional<double> c = std::nullopt;  // initial C, above 0; default d, which gives slope 1 at x = 0
  bool bias = true;
};
struct DyISRU : ElementwiseNorm {
  Tensor log_c;  // ln C: it keeps C positive

  explicit DyISRU(const Shape& normalized_shape, DyISRUOptions options = {})
      : ElementwiseNorm(normalized_shape, options.bias) {
    const double c = options.c.value_or(static_cast<double>(normalized_shape.numel()));
    check(c > 0, "dyisru: wanted an initial C above 0, got {}", c);
    log_c = cast(log(full({1}, c, Dtype::f64)), Dtype::f32).detach().set_trainable();
  }

  Tensor forward(const Tensor& x) override { return dyisru(x, log_c, weight, bias); }
  void fields(Fields& f) override {
    f("log_c", log_c);
    ElementwiseNorm::fields(f);
  }
};

struct DerfOptions {
  double alpha = 0.5;  // initial value
  bool bias = true;
};
struct Derf : ElementwiseNorm {
  Tensor alpha, shift;  // shift starts at 0

  explicit Derf(const Shape& normalized_shape, DerfOptions options = {})
      : ElementwiseNorm(normalized_shape, options.bias),
        alpha(full({1}, options.alpha).set_trainable()),
        shift(zeros({1}).set_trainable()) {}

  Tensor forward(const Tensor& x) override { return derf(x, alpha, shift, weight, bias); }
  void fields(Fields& f) override {
    f("alpha", alpha);
    f("shift", shift);
    ElementwiseNorm::fields(f);
  }
};

}  // namespace isobar
