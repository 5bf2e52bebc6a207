// C13, D34, D35: what eps prevents, what outputs no longer say, what subtracting the mean does to skewness.
#include <numbers>

#include "../../../autograd/autograd.h"
#include "../../../nn/nn.h"
#include "properties.h"

namespace isobar::properties {
namespace {

// A row of zeros has an rms of 0: eps alone prevents 0/0. The gradient is dy/√eps, with 002's eps 1000 dy.
void zero_rows(Measurements& measurements) {
  const auto at_zero = [](double eps) {
    const Tensor x = zeros({1, 512}, Dtype::f64).set_trainable();
    Tape tape;
    const Tensor y = rms_norm(x, {512}, {}, eps);
    tape.backward(y, ones({1, 512}, Dtype::f64));
    return std::pair{y.at({0, 0}), x.grad().at({0, 0})};
  };
  const auto [y, dx] = at_zero(1e-6);
  const auto [y_without, dx_without] = at_zero(0);
  measurements.add("zero.rmsnorm.with_eps", y, 0, 0);
  measurements.add("zero.rmsnorm.gradient_with_eps", dx, 1e3, 1e-9);
  measurements.add("zero.rmsnorm.without_eps.is_nan", std::isnan(y_without) ? 1 : 0, 1, 0);
  measurements.add("zero.rmsnorm.gradient_without_eps.is_nan", std::isnan(dx_without) ? 1 : 0, 1, 0);
}

// x and 2x give one output without eps. With it ‖y‖ is √(ms/(ms + eps)) of √d: for ms = 1 the two differ by
// 3/8 eps, which f32 has digits for: its roundings move the outputs by some 1e-7.
void doubled_rows(Measurements& measurements, const Rng& rng) {
  const Tensor drawn = rng.normal({64, 512}, 0, 1, Dtype::f64);
  const auto length = [](const Tensor& v) { return std::sqrt(sum(square(cast(v, Dtype::f64))).item()); };
  const auto change = [&](double eps, Dtype dtype) {
    const Tensor x = cast(drawn, dtype), y = rms_norm(x, {512}, {}, eps);
    return length(rms_norm(x * 2, {512}, {}, eps) - y) / length(y);
  };
  measurements.add("information.doubled.change", change(0, Dtype::f64), 0, 0);
  measurements.add("information.doubled.change_with_eps", change(1e-5, Dtype::f64), 0.375e-5);
  measurements.add("information.doubled.change_with_eps_in_f32", change(1e-5, Dtype::f32), 0.375e-5);
}

// The mean over the rows of Σ (x − mean)³/d / std³.
double skewness(const Tensor& x) {
  const Tensor centred = x - mean(x, {-1}, true);
  const Tensor variance = mean(square(centred), {-1});
  return mean(mean(square(centred) * centred, {-1}) / (variance * sqrt(variance))).item();
}

// By how much the share of positive numbers differs from that of negative ones.
double imbalance(const Tensor& x) {
  double sum = 0;
  for (const double v : x.to_vector<double>()) sum += (v > 0) - (v < 0);
  return std::abs(sum) / static_cast<double>(x.numel());
}

// After a ReLU of normal numbers: m = 1/√(2π), σ² = 1/2 − m², E x³ = 2m; centred, a share Φ(−m) is positive.
void symmetry(Measurements& measurements, const Rng& rng) {
  const Tensor x = relu(rng.normal({64, 512}, 0, 1, Dtype::f64));
  const Tensor centred = x - mean(x, {-1}, true);
  const double m = 1 / std::sqrt(2 * std::numbers::pi), variance = 0.5 - m * m;
  const double third = 2 * m - 1.5 * m + 2 * m * m * m;
  measurements.add("symmetry.skewness.before", skewness(x), third / (variance * std::sqrt(variance)));
  measurements.add("symmetry.skewness.after_over_before", skewness(centred) / skewness(x), 1, 1e-11);
  measurements.add("symmetry.skewness.layernorm_over_input",
                   skewness(layer_norm(x, {512}, {}, {}, 0)) / skewness(x), 1, 1e-11);
  const volatile double edge = m / std::numbers::sqrt2;  // else g++ computes erf, and clang leaves it to libc
  measurements.add("symmetry.imbalance.after_over_before", imbalance(centred) / imbalance(x),
                   2 * std::erf(edge));
}

}  // namespace

void measure_information(Measurements& measurements, const Rng& rng) {
  zero_rows(measurements);
  doubled_rows(measurements, rng.split("doubled"));
  symmetry(measurements, rng.split("symmetry"));
}

}  // namespace isobar::properties
