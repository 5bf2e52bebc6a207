#include "a6.h"

#include <algorithm>
#include <cmath>
#include <numbers>

// Task 1.
Variances variances_of(Init init, int64_t width) {
  if (init == Init::torch_default) return {1.0 / (3 * width), 1.0 / (3 * width)};
  if (init == Init::he) return {2.0 / width, 0};
  return {1.0 / width, 0};  // Xavier's 2 / (in + out) and LeCun's 1 / in are one for square layers
}

// Task 2.
namespace {

// Mean squares of h_0 … h_L: E z² = C Var w E h² + Var b, and relu halves it.
std::vector<double> mean_squares(int64_t depth, int64_t width, const Variances& variances) {
  std::vector<double> of_layer{1};
  for (int64_t l = 0; l < depth; ++l)
    of_layer.push_back((width * variances.weight * of_layer.back() + variances.bias) / 2);
  return of_layer;
}

// The std of relu(z) where its mean square is m: E relu(z) = √(E z² / 2π).
double std_of(double m) { return std::sqrt(m - 2 * m / (2 * std::numbers::pi)); }

}  // namespace

Tensor predict_std(int64_t depth, int64_t width, const Variances& variances) {
  const std::vector<double> squares = mean_squares(depth, width, variances);
  Tensor result({depth}, Dtype::f64);
  double* const out = raw::write<double>(result);
  for (int64_t l = 0; l < depth; ++l) out[l] = std_of(squares[l + 1]);
  return result;
}

double plateau_std(int64_t width, const Variances& variances) {
  const double factor = width * variances.weight / 2;
  check(factor < 1, "plateau_std: wanted C · Var w / 2 below 1, got {}", factor);
  return std_of(variances.bias / 2 / (1 - factor));
}

// Task 3.
Tensor predict_gradient_norm(int64_t depth, int64_t width, int64_t batch, const Variances& variances) {
  const std::vector<double> squares = mean_squares(depth, width, variances);
  Tensor result({depth}, Dtype::f64);
  double* const out = raw::write<double>(result);
  double dz = 0.5;  // E (dL/dz)² of the last layer: relu passes half of dy
  for (int64_t l = depth - 1; l >= 0; --l) {
    out[l] = width * std::sqrt(batch * dz * squares[l]);
    dz *= width * variances.weight / 2;
  }
  return result;
}

// Task 4.
Signals measure(const Tensor& x, const Tensor& weights, const Tensor& biases, const Tensor& dy) {
  const int64_t depth = weights.size(0), width = weights.size(1);
  Signals out{Tensor({depth}, Dtype::f64), Tensor({depth}, Dtype::f64)};
  isobar::Tape tape;
  std::vector<Tensor> used;
  Tensor h = x;
  for (int64_t l = 0; l < depth; ++l) {
    used.push_back(
        raw::clone(raw::as_strided(weights, {width, width}, {width, 1}, l * width * width)).set_trainable());
    h = isobar::relu(isobar::linear(h, used.back(), raw::as_strided(biases, {width}, {1}, l * width)));
    raw::write<double>(out.std)[l] = std::sqrt(isobar::var(h.detach(), std::nullopt, false, 0).item());
  }
  tape.backward(h, dy);
  for (int64_t l = 0; l < depth; ++l)
    raw::write<double>(out.gradient_norm)[l] =
        std::sqrt(isobar::sum(isobar::square(used[l].grad().detach())).item());
  return out;
}

// Task 5.
Tensor judge(const Tensor& printed, const Tensor& measured, double rounding) {
  check(printed.ndim() == 1 && measured.ndim() == 2 && measured.size(0) >= 2 &&
            measured.size(1) == printed.size(0),
        "judge: wanted printed (L) and measured (S, L) with S ≥ 2, got {} and {}", printed.shape(),
        measured.shape());
  const int64_t seeds = measured.size(0), depth = printed.size(0);
  const double p = 1 - 0.01 / depth / 2;
  const double reach = student_quantile(p, seeds - 1) * std::sqrt(1 + 1.0 / seeds);  // in standard deviations
  const bool enough = reach <= 2 * normal_quantile(p);
  Tensor result({depth, 2}, Dtype::f64);
  double* const out = raw::write<double>(result);
  for (int64_t l = 0; l < depth; ++l) {
    std::vector<double> values;
    for (int64_t s = 0; s < seeds; ++s) values.push_back(measured.at({s, l}));
    std::sort(values.begin(), values.end());
    double mean = 0, squares = 0;  // of the logarithms
    for (const double v : values) mean += std::log(v) / seeds;
    for (const double v : values) squares += std::pow(std::log(v) - mean, 2);
    const double half = reach * std::sqrt(squares / (seeds - 1)), value = printed.at({l});
    const double median = (values[(seeds - 1) / 2] + values[seeds / 2]) / 2;
    const double low = std::exp(mean - half) - rounding, high = std::exp(mean + half) + rounding;
    const bool inside = value >= low && value <= high;  // false for a NaN
    out[2 * l] = !inside ? 0 : enough ? 1 : 0.5;
    out[2 * l + 1] = value / median;
  }
  return result;
}
