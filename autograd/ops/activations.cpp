// Activations that are their formula; the gradients follow from it.
//
//   silu:          y = x sigmoid(x)
//   swiglu:        y = silu(gate) · up
//   gelu:          y = x Φ(x), Φ the normal distribution             Hendrycks & Gimpel 2016
//   gelu_tanh:     y = x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2    their fit, section 2
//   softplus:      y = ln(1 + eˣ)
//   mish:          y = x tanh(softplus(x))
//   softcap:       y = c · tanh(x / c)
//   squared_relu:  y = max(0, x)²
//   leaky_relu:    y = x where x > 0, else s x                       Maas et al. 2013
//   elu:           y = x where x > 0, else α (eˣ − 1)                Clevert et al. 2016, equation 15
#include <numbers>

#include "../pointwise.h"

namespace isobar {
namespace {

constexpr double inv_sqrt2 = 1 / std::numbers::sqrt2;
constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double cubic = 0.044715 * sqrt_2_over_pi;

Tensor bounded(const Tensor& x, double bound) { return clamp(x, -bound, bound); }

}  // namespace

Tensor silu(const Tensor& x) {
  return pointwise(
      "silu", [](auto v) { return v * sigmoid(v); }, x);
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  return pointwise(
      "swiglu", [](auto g, auto u) { return silu(g) * u; }, gate, up);
}

Tensor gelu(const Tensor& x) {
  return pointwise(
      "gelu", [](auto v) { return v * (1 + erf(inv_sqrt2 * v)) * 0.5; }, x);
}

Tensor gelu_tanh(const Tensor& x) {
  return pointwise(
      "gelu_tanh",
      [](auto v) {
        // tanh is ±1 long before: without the bound, its slope 0 would meet an infinite v².
        const auto u = bounded(v, 1e6);
        return v * (1 + tanh(u * (sqrt_2_over_pi + cubic * square(u)))) * 0.5;
      },
      x);
}

Tensor softplus(const Tensor& x) {
  return pointwise(
      "softplus",
      [](auto v) {
        // ln(1 + eˣ) without overflow: max(v, 0) + ln(1 + e^−|v|). Its two kinks cancel, and do so in every
        // derivative at 0 because both sides take v ≥ 0 there.
        const auto line = where(v < 0, 0, v), below = where(v < 0, v, -v);
        return line + log1p(exp(below));
      },
      x);
}

Tensor mish(const Tensor& x) {
  return pointwise(
      "mish", [](auto v) { return v * tanh(softplus(v)); }, x);
}

Tensor softcap(const Tensor& x, double cap) {
  check(cap > 0, "softcap: wanted a cap above 0, got {}", cap);
  return pointwise(
      "softcap", [cap](auto v) { return cap * tanh(v / cap); }, x);
}

Tensor leaky_relu(const Tensor& x, double negative_slope) {
  return pointwise(
      "leaky_relu", [negative_slope](auto v) { return where(v <= 0, negative_slope * v, v); }, x);
}

Tensor elu(const Tensor& x, double alpha) {
  return pointwise(
      "elu",
      [alpha](auto v) {
        const auto below = where(v <= 0, v, 0);  // the exponential of a large v is infinite
        return where(v <= 0, alpha * expm1(below), v);
      },
      x);
}

Tensor squared_relu(const Tensor& x) {
  return pointwise(
      "squared_relu", [](auto v) { return where(v <= 0, 0, square(v)); }, x);
}

}  // namespace isobar
