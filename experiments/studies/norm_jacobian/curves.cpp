#include "curves.h"

#include "../../../nn/nn.h"
#include "matrix.h"

namespace isobar::jacobian {
namespace {

double root(int64_t d) { return std::sqrt(static_cast<double>(d)); }

template <class M>
M in_f64(M module) {
  convert(module, Dtype::f64);
  return module;
}
// Sets all elements, unrounded.
void fill(Tensor& parameter, double value) { assign(parameter, full(parameter.shape(), value, Dtype::f64)); }

// What an elementwise module makes of these numbers, whose count is a multiple of d.
Vector apply(Module& module, int64_t d, const Vector& x) {
  const auto rows = static_cast<int64_t>(x.size()) / d;
  return module(tensor({rows, d}, x)).to_vector<double>();
}

// dy/dx, by backward of the sum.
Vector slope_of(Module& module, int64_t d, const Vector& x) {
  Tensor leaf = tensor({static_cast<int64_t>(x.size()) / d, d}, x).set_trainable();
  Tape tape;
  return tape.gradient(sum(module(leaf)), {leaf})[0].to_vector<double>();
}

double slope_at_0(Module& module, int64_t d) {
  return slope_of(module, d, Vector(static_cast<size_t>(d)))[0];
}

// dy/dx from outputs around x, exact up to the fifth derivative.
Vector slope_by_differences(Module& module, int64_t d, const Vector& x, double step) {
  Vector slope(x.size());
  for (const auto& [offset, factor] : {std::pair{-2, 1.0}, {-1, -8.0}, {1, 8.0}, {2, -1.0}}) {
    Vector moved = x;
    for (double& value : moved) value += offset * step;
    const Vector y = apply(module, d, moved);
    for (size_t i = 0; i < x.size(); ++i) slope[i] += factor * y[i] / (12 * step);
  }
  return slope;
}

using Equation = std::function<double(double x, double y)>;  // dy/dx

// The solution through (from, y) at `to`, by the classical Runge-Kutta method.
double integrate(const Equation& f, double from, double y, double to, int steps) {
  const double h = (to - from) / steps;
  for (int i = 0; i < steps; ++i) {
    const double x = from + i * h;
    const double k1 = f(x, y), k2 = f(x + h / 2, y + h / 2 * k1), k3 = f(x + h / 2, y + h / 2 * k2),
                 k4 = f(x + h, y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return y;
}

// `scale` is the x where the curve bends: the grid reaches 8 times as far, and never meets 0.
void measure_ode(Measurements& measurements, const std::string& key, Module& module, int64_t d, double scale,
                 const Equation& f, Run& run) {
  constexpr size_t points = 2048;
  Vector x(points);
  for (size_t i = 0; i < points; ++i)
    x[i] = 8 * scale * (2 * static_cast<double>(i) + 1 - points) / static_cast<double>(points);
  const Vector y = apply(module, d, x), slope = slope_of(module, d, x);
  Vector wanted(points);
  for (size_t i = 0; i < points; ++i) wanted[i] = f(x[i], y[i]);
  // From x = scale/2 to the end, both ways.
  Vector integrated = y;
  constexpr size_t start = points / 2 + points / 32;
  for (size_t i = start + 1; i < points; ++i)
    integrated[i] = integrate(f, x[i - 1], integrated[i - 1], x[i], 16);
  for (size_t i = start; i > points / 2; --i)
    integrated[i - 1] = integrate(f, x[i], integrated[i], x[i - 1], 16);

  measurements.add(key + ".slope_residual", max_difference(slope, wanted), 0);
  measurements.add(key + ".finite_difference_residual",
                   max_difference(slope_by_differences(module, d, x, 1e-3 * scale), wanted), 0);
  measurements.add(key + ".integrated_diff", max_difference(integrated, y), 0);
  measurements.add(key + ".y_at_0", apply(module, d, Vector(static_cast<size_t>(d)))[0], 0);
  for (const Vector& row : {x, y, slope}) run.record(key, row);
}

}  // namespace

void measure_odes(Measurements& measurements, int64_t d, Run& run) {
  const auto n = static_cast<double>(d);
  constexpr double rho = 1.7;
  DyTSqrtD dyt = in_f64(DyTSqrtD(d));
  fill(dyt.inv_rho, 1 / rho);
  const Equation constant_rho = [n](double, double y) { return (1 - y * y / n) / rho; };
  measure_ode(measurements, fmt::format("ode.dyt_sqrtd.d{}", d), dyt, d, rho * root(d), constant_rho, run);

  DyISRU dyisru = in_f64(DyISRU(d));
  const Equation own_rms = [n](double x, double y) { return y / x * (1 - y * y / n); };
  for (const int64_t c : {int64_t{1}, d - 1, d}) {
    fill(dyisru.log_c, std::log(static_cast<double>(c)));
    measure_ode(measurements, fmt::format("ode.dyisru.d{}.c{}", d, c), dyisru, d, root(c), own_rms, run);
  }
}

void measure_dyt(Measurements& measurements, int64_t d, const Rng& rng) {
  const auto draw = [&](const char* name) { return rng.split(name).normal({d}, 0, 1, Dtype::f64); };
  const std::string key = fmt::format("dyt.d{}", d);
  const Tensor x = draw("x"), u = draw("u");

  // The formula, and the gradient of α: Σ u γ (1 − t²) x.
  DyT dyt = in_f64(DyT(d));
  const auto numbers = static_cast<double>(parameter_count(dyt));
  const double first_alpha = dyt.alpha.item();
  fill(dyt.alpha, std::exp(draw("alpha").at({0})));
  assign(dyt.weight, draw("weight"));
  assign(dyt.bias, draw("bias"));
  const double alpha = dyt.alpha.item();
  const Vector xs = x.to_vector<double>(), us = u.to_vector<double>();
  const Vector gamma = dyt.weight.to_vector<double>(), beta = dyt.bias.to_vector<double>();
  Vector wanted(xs.size());
  double alpha_gradient = 0;
  for (size_t i = 0; i < xs.size(); ++i) {
    const double t = std::tanh(alpha * xs[i]);
    wanted[i] = gamma[i] * t + beta[i];
    alpha_gradient += us[i] * gamma[i] * (1 - t * t) * xs[i];
  }
  measurements.add(key + ".formula_diff", max_difference(apply(dyt, d, xs), wanted), 0);
  {
    Tape tape;
    tape.backward(dyt(x), u);
  }
  measurements.add(key + ".alpha_gradient_diff", std::abs(dyt.alpha.grad().item() - alpha_gradient), 0);
  measurements.add(key + ".weight_and_bias_get_gradients",
                   static_cast<double>(dyt.weight.grad().defined() && dyt.bias.grad().defined()), 1);
  measurements.add(key + ".first_alpha", first_alpha);
  DyT without_bias(d, {.bias = false});
  measurements.add(key + ".trainable_numbers", numbers, static_cast<double>(2 * d + 1));
  measurements.add(key + ".trainable_numbers_without_bias",
                   static_cast<double>(parameter_count(without_bias)), static_cast<double>(d + 1));
}

void measure_dyt_as_dyt_sqrtd(Measurements& measurements, int64_t d, const Rng& rng) {
  DyTSqrtD explicit_root = in_f64(DyTSqrtD(d));
  DyT absorbed = in_f64(DyT(d));
  const std::string slope = fmt::format("slope_at_0.d{}.", d);
  measurements.add(slope + "dyt_default", slope_at_0(absorbed, d), 0.5);
  measurements.add(slope + "dyt_sqrtd_default", slope_at_0(explicit_root, d), 1);

  const double rho = 1.7;
  fill(explicit_root.inv_rho, 1 / rho);
  fill(absorbed.alpha, 1 / (rho * root(d)));
  fill(absorbed.weight, root(d));
  measurements.add(slope + "dyt_as_dyt_sqrtd", slope_at_0(absorbed, d), 1 / rho);
  const std::string key = fmt::format("dyt_as_dyt_sqrtd.d{}", d);
  const Vector x = rng.split("x").normal({d}, 0, root(d), Dtype::f64).to_vector<double>();
  measurements.add(key + ".max_abs_diff", max_difference(apply(absorbed, d, x), apply(explicit_root, d, x)),
                   0);
  measurements.add(key + ".alpha", absorbed.alpha.item(), 1 / (rho * root(d)));
  measurements.add(key + ".weight", absorbed.weight.at({0}), root(d));
}

void measure_exact_per_element(Measurements& measurements, int64_t d, const Rng& rng) {
  const Tensor x = rng.split("x").normal({d}, 0.5, 1.5, Dtype::f64), weight = ones({d}, Dtype::f64);
  const Vector xs = x.to_vector<double>(), wanted = rms_norm(x, {d}, {}, 0).to_vector<double>();
  Vector ours(xs.size());
  for (size_t i = 0; i < xs.size(); ++i) {
    double others = 0;
    for (size_t j = 0; j < xs.size(); ++j) others += i == j ? 0 : xs[j] * xs[j];
    const Tensor y = dyisru(x, full({1}, std::log(others), Dtype::f64), weight, {});
    ours[i] = y.at({static_cast<int64_t>(i)});
  }
  measurements.add(fmt::format("exact_per_element.d{}.max_abs_diff", d), max_difference(ours, wanted), 0);
}

void measure_bounds(Measurements& measurements, int64_t d) {
  constexpr double spike = 1e4;
  Vector x(static_cast<size_t>(d));
  x[0] = spike;
  const auto add = [&](const char* name, Module&& module, double theory) {
    convert(module, Dtype::f64);
    measurements.add(fmt::format("bound.{}.d{}", name, d), max_abs(apply(module, d, x)), theory);
  };
  add("rmsnorm", RMSNorm(d), root(d));
  add("layernorm", LayerNorm(d), root(d - 1));
  add("dyt", DyT(d), 1);
  add("dyt_sqrtd", DyTSqrtD(d), root(d) * std::tanh(spike / root(d)));
  add("dyisru", DyISRU(d), root(d) * spike / std::sqrt(spike * spike + static_cast<double>(d)));
}

}  // namespace isobar::jacobian
