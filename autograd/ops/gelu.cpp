//   gelu:       y = x Φ(x), Φ the normal distribution              Hendrycks & Gimpel 2016
//   gelu_tanh:  y = x (1 + tanh(√(2/π) (x + 0.044715 x³))) / 2     their fit, section 2
#include <numbers>

#include "../pointwise.h"

namespace isobar {
namespace {

constexpr double inv_sqrt2 = 1 / std::numbers::sqrt2;
constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double cubic = 0.044715 * sqrt_2_over_pi;

}  // namespace

Tensor gelu(const Tensor& x) {
  return pointwise(
      "gelu", [](auto v) { return v * (1 + erf(inv_sqrt2 * v)) * 0.5; }, x);
}

Tensor gelu_tanh(const Tensor& x) {
  return pointwise(
      "gelu_tanh", [](auto v) { return v * (1 + tanh(v * (sqrt_2_over_pi + cubic * square(v)))) * 0.5; }, x);
}

}  // namespace isobar
