// Elementwise replacements for normalization. d is the number of normalized elements.
//
//   y = t(x) · weight + bias
//   dyt        t = tanh(alpha x)                       Zhu et al. 2025
//   dyt_sqrtd  t = √d tanh(inv_rho x / √d)             the solution of RMSNorm's diagonal gradient
//   dyisru     t = √d x / √(x² + C), C = e^log_c       Stollenwerk 2025, arXiv 2503.21708
//   derf       t = erf(alpha x + shift)                Chen et al. 2025
#include <cmath>

#include "../pointwise.h"

namespace isobar {
namespace {

double sqrt_of_size(const Tensor& weight) {
  return weight.defined() ? std::sqrt(static_cast<double>(weight.numel())) : 1;
}

}  // namespace

Tensor dyt(const Tensor& x, const Tensor& alpha, const Tensor& weight, const Tensor& bias) {
  return pointwise(
      "dyt", [](auto v, auto a, auto w, auto b) { return w * tanh(a * v) + b; }, x, scalar(alpha, "alpha"),
      channel(weight, "weight"), channel(bias, "bias", 0));
}

Tensor dyt_sqrtd(const Tensor& x, const Tensor& inv_rho, const Tensor& weight, const Tensor& bias) {
  return pointwise(
      "dyt_sqrtd",
      [d = sqrt_of_size(weight)](auto v, auto p, auto w, auto b) { return (d * w) * tanh(p / d * v) + b; }, x,
      scalar(inv_rho, "inv_rho"), channel(weight, "weight"), channel(bias, "bias", 0));
}

Tensor dyisru(const Tensor& x, const Tensor& log_c, const Tensor& weight, const Tensor& bias) {
  return pointwise(
      "dyisru",
      [d = sqrt_of_size(weight)](auto v, auto p, auto w, auto b) { return (d * w) * isru(v, exp(p)) + b; }, x,
      scalar(log_c, "log_c"), channel(weight, "weight"), channel(bias, "bias", 0));
}

Tensor derf(const Tensor& x, const Tensor& alpha, const Tensor& shift, const Tensor& weight,
            const Tensor& bias) {
  return pointwise(
      "derf", [](auto v, auto a, auto s, auto w, auto b) { return w * erf(a * v + s) + b; }, x,
      scalar(alpha, "alpha"), scalar(shift, "shift"), channel(weight, "weight"), channel(bias, "bias", 0));
}

}  // namespace isobar
