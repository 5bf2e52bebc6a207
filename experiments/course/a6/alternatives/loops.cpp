// The net by hand: forward and backward in plain loops; predictions by iterating until nothing moves.
#include <algorithm>
#include <cmath>

#include "a6.h"

namespace {

const double pi = std::acos(-1.0);

// From E h² of a layer's input to E z² of the layer.
double up(double h2, int64_t width, const Variances& v) { return width * v.weight * h2 + v.bias; }
double relu_std(double z2) { return std::sqrt(z2 * (0.5 - 1 / (2 * pi))); }

}  // namespace

double plateau_std(int64_t width, const Variances& variances) {
  if (width * variances.weight >= 2)
    isobar::throw_error("plateau_std: the signal grows, or stays as it came");
  double z2 = 0, before = -1;
  while (z2 != before) {
    before = z2;
    z2 = up(z2 / 2, width, variances);
  }
  return relu_std(z2);
}

Tensor predict_gradient_norm(int64_t depth, int64_t width, int64_t batch, const Variances& variances) {
  std::vector<double> norms;
  double h2 = 1;
  for (int64_t l = 0; l < depth; ++l) {
    const double dz2 = std::pow(width * variances.weight / 2, depth - 1 - l) / 2;
    norms.push_back(std::sqrt(double(batch)) * width * std::sqrt(dz2) * std::sqrt(h2));
    h2 = up(h2, width, variances) / 2;
  }
  return isobar::tensor({depth}, norms);
}

Signals measure(const Tensor& x, const Tensor& weights, const Tensor& biases, const Tensor& dy) {
  using Values = std::vector<double>;
  const int64_t depth = weights.size(0), width = weights.size(1), batch = x.size(0);
  const double* w = weights.data<double>();
  std::vector<Values> h{x.to_vector<double>()};
  Values stds, norms(depth);
  for (int64_t l = 0; l < depth; ++l) {
    Values next(batch * width);
    double mean = 0, squares = 0;
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t m = 0; m < width; ++m) {
        double z = biases.data<double>()[l * width + m];
        for (int64_t k = 0; k < width; ++k) z += h[l][b * width + k] * w[(l * width + m) * width + k];
        mean += (next[b * width + m] = std::max(z, 0.0)) / (batch * width);
      }
    for (const double v : next) squares += (v - mean) * (v - mean);
    stds.push_back(std::sqrt(squares / next.size()));
    h.push_back(next);
  }
  Values d = dy.to_vector<double>();
  for (int64_t l = depth - 1; l >= 0; --l) {
    Values below(batch * width), dw(width * width);
    for (int64_t b = 0; b < batch; ++b)
      for (int64_t m = 0; m < width; ++m) {
        if (h[l + 1][b * width + m] <= 0) continue;
        for (int64_t k = 0; k < width; ++k) {
          dw[m * width + k] += d[b * width + m] * h[l][b * width + k];
          below[b * width + k] += d[b * width + m] * w[(l * width + m) * width + k];
        }
      }
    for (const double v : dw) norms[l] += v * v;
    norms[l] = std::sqrt(norms[l]);
    d = below;
  }
  return {isobar::tensor({depth}, stds), isobar::tensor({depth}, norms)};
}

Tensor judge(const Tensor& printed, const Tensor& measured, double rounding) {
  const bool fits =
      printed.ndim() == 1 && measured.ndim() == 2 && measured.shape().last(1) == printed.shape();
  if (!fits || measured.size(0) < 2)
    isobar::throw_error(fmt::format("judge: got {} and {}", printed.shape(), measured.shape()));
  std::vector<double> table;
  const double seeds = measured.size(0);
  for (int64_t l = 0; l < printed.size(0); ++l) {
    std::vector<double> v;
    double sum = 0, spread = 0;
    for (int64_t s = 0; s < seeds; ++s) sum += std::log(v.emplace_back(measured.at({s, l})));
    for (const double a : v)
      for (const double b : v) spread += std::log(a / b) * std::log(a / b);
    const double std = std::sqrt(spread / (2 * seeds * (seeds - 1)));  // over all pairs
    const size_t middle = v.size() / 2;
    std::nth_element(v.begin(), v.begin() + middle, v.end());
    const double high = v[middle], low = *std::max_element(v.begin(), v.begin() + middle);
    const double tail = 0.005 / printed.numel();
    const double times = student_quantile(1 - tail, measured.size(0) - 1) * std::sqrt(1 + 1 / seeds);
    const double middle_value = std::exp(sum / seeds), width = std::exp(times * std), value = printed.at({l});
    if (!std::isfinite(value) || value < middle_value / width - rounding ||
        value > middle_value * width + rounding)
      table.push_back(0);
    else
      table.push_back(times <= -2 * normal_quantile(tail) ? 1 : 0.5);
    table.push_back(printed.at({l}) / (v.size() % 2 ? high : 0.5 * (low + high)));
  }
  return isobar::tensor({printed.size(0), 2}, table);
}
