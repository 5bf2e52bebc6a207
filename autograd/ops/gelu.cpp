// GELU (Hendrycks & Gimpel 2016), Φ and φ the normal distribution and density.
//
//   gelu:       y = x Φ(x)                      dx = dy · (Φ + x φ)
//   gelu_tanh:  y = x (1 + t) / 2               dx = dy · ((1 + t) / 2 + x (1 − t²) u' / 2)
//               t = tanh(u), u = √(2/π) (x + 0.044715 x³), u' = √(2/π) (1 + 3 · 0.044715 x²)
#include <numbers>

#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {
namespace {

constexpr double inv_sqrt2 = 1 / std::numbers::sqrt2;
constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
constexpr double cubic = 0.044715;  // the tanh fit of Hendrycks & Gimpel, section 2

// A double constant as a register of the same type as `like`.
template <class V>
V constant(const V&, double value) {
  return V(static_cast<typename V::value_type>(value));
}

Tensor gelu_composed(const Tensor& x) { return x * (erf(x * inv_sqrt2) + 1) * 0.5; }

Tensor gelu_tanh_composed(const Tensor& x) {
  return x * (tanh((x + x * square(x) * cubic) * sqrt_2_over_pi) + 1) * 0.5;
}

template <class V>
V normal_cdf(const V& x) {
  return constant(x, 0.5) * (V(1) + kernels::erf(x * constant(x, inv_sqrt2)));
}

template <class V>
V fitted_tanh(const V& x) {
  return kernels::tanh(constant(x, sqrt_2_over_pi) * (x + constant(x, cubic) * x * x * x));
}

}  // namespace

Tensor gelu(const Tensor& x) {
  if (composed_wanted()) return gelu_composed(x);
  Tensor y = map("gelu", x, [](auto v) { return v * normal_cdf(v); });
  return record("gelu", y, {x}, [x](Tensor dy) {
    return map_gradient("gelu", std::move(dy), x, [](auto d, auto v) {
      const auto density = constant(v, sqrt_2_over_pi / 2) * xsimd::exp(constant(v, -0.5) * v * v);
      return d * (normal_cdf(v) + v * density);
    });
  });
}

Tensor gelu_tanh(const Tensor& x) {
  if (composed_wanted()) return gelu_tanh_composed(x);
  Tensor y =
      map("gelu_tanh", x, [](auto v) { return constant(v, 0.5) * v * (decltype(v)(1) + fitted_tanh(v)); });
  return record("gelu_tanh", y, {x}, [x](Tensor dy) {
    return map_gradient("gelu_tanh", std::move(dy), x, [](auto d, auto v) {
      using V = decltype(v);
      const V t = fitted_tanh(v);
      const V slope = constant(v, sqrt_2_over_pi) * (V(1) + constant(v, 3 * cubic) * v * v);
      return d * constant(v, 0.5) * (V(1) + t + v * (V(1) - t * t) * slope);
    });
  });
}

}  // namespace isobar
