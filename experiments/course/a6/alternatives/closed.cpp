// Closed forms instead of recurrences; the gradient of all weights at once; seeds judged by columns.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "a6.h"

namespace {

// E h_l²: f^l + b/2 · (1 − f^l)/(1 − f), its limit l for f = 1.
double square(int64_t l, int64_t width, const Variances& v) {
  const double f = width * v.weight / 2, power = std::pow(f, l);
  return power + v.bias / 2 * (f == 1 ? double(l) : (1 - power) / (1 - f));
}
const double share = std::sqrt(1 - 1 / 3.14159265358979323846);  // std h / √E h²

}  // namespace

Variances variances_of(Init init, int64_t width) {
  static const std::map<Init, std::pair<double, double>> table{{Init::torch_default, {1 / 3.0, 1 / 3.0}},
                                                               {Init::he, {2, 0}},
                                                               {Init::xavier, {1, 0}},
                                                               {Init::lecun, {1, 0}}};
  const auto [weight, bias] = table.at(init);
  return {weight / width, bias / width};
}

Tensor predict_std(int64_t depth, int64_t width, const Variances& variances) {
  Tensor y({depth}, Dtype::f64);
  for (int64_t l = 1; l <= depth; ++l)
    raw::write<double>(y)[l - 1] = share * std::sqrt(square(l, width, variances));
  return y;
}

double plateau_std(int64_t width, const Variances& variances) {
  check(width * variances.weight < 2, "no plateau: C Var w = {}", width * variances.weight);
  return share * std::sqrt(variances.bias / (2 - width * variances.weight));
}

Tensor predict_gradient_norm(int64_t depth, int64_t width, int64_t batch, const Variances& variances) {
  Tensor y({depth}, Dtype::f64);
  for (int64_t l = 0; l < depth; ++l)
    raw::write<double>(y)[l] = std::sqrt(0.5 * batch * width * width * square(l, width, variances) *
                                         std::pow(width * variances.weight / 2, depth - l - 1));
  return y;
}

Signals measure(const Tensor& x, const Tensor& weights, const Tensor& biases, const Tensor& dy) {
  const int64_t depth = weights.size(0), width = weights.size(1);
  Tensor all = raw::clone(weights).set_trainable();
  std::vector<double> stds, norms;
  {
    isobar::Tape tape;
    Tensor h = x;
    for (int64_t l = 0; l < depth; ++l) {
      const Tensor w = isobar::reshape(isobar::slice(all, 0, l, l + 1), {width, width});
      h = isobar::relu(isobar::matmul(h, isobar::transpose(w)) + isobar::slice(biases, 0, l, l + 1));
      const std::vector<double> values = h.to_vector<double>();
      const double mean = std::accumulate(values.begin(), values.end(), 0.0) / values.size();
      double squares = 0;
      for (const double v : values) squares += (v - mean) * (v - mean);
      stds.push_back(std::sqrt(squares / values.size()));
    }
    tape.backward(isobar::sum(h * dy));
  }
  const std::vector<double> slopes = all.grad().to_vector<double>();
  for (int64_t l = 0; l < depth; ++l) {
    double norm = 0;
    for (int64_t i = 0; i < width * width; ++i) norm = std::hypot(norm, slopes[l * width * width + i]);
    norms.push_back(norm);
  }
  return {isobar::tensor({depth}, stds), isobar::tensor({depth}, norms)};
}

Tensor judge(const Tensor& printed, const Tensor& measured, double rounding) {
  check(printed.ndim() == 1 && measured.ndim() == 2 &&
            measured.shape() == measured.shape().with(1, printed.numel()) && measured.size(0) > 1,
        "judge: got {} and {}", printed.shape(), measured.shape().text());
  const int64_t seeds = measured.size(0), depth = printed.size(0);
  const double alpha = 0.01 / depth, t = student_quantile(1 - alpha / 2, seeds - 1);
  const double stretch = std::sqrt((seeds + 1.0) / seeds), most = 2 * normal_quantile(1 - alpha / 2);
  const std::vector<double> flat = measured.to_vector<double>();
  std::vector<double> table(2 * depth);
  for (int64_t l = 0; l < depth; ++l) {
    std::vector<double> column(seeds);
    for (int64_t s = 0; s < seeds; ++s) column[s] = flat[s * depth + l];
    std::sort(column.begin(), column.end(), std::greater<>());
    std::vector<double> logs(column);
    for (double& v : logs) v = std::log(v);
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / seeds;
    const double squares = std::inner_product(logs.begin(), logs.end(), logs.begin(), 0.0, std::plus<>(),
                                              [&](double a, double b) { return (a - mean) * (b - mean); });
    const double factor = std::exp(t * stretch * std::sqrt(squares / double(seeds - 1))),
                 value = printed.at({l});
    const bool in =
        std::exp(mean) / factor <= value + rounding && value - rounding <= std::exp(mean) * factor;
    table[2 * l] = in ? (t * stretch > most ? 0.5 : 1.0) : 0.0;
    table[2 * l + 1] = value / std::midpoint(column[seeds / 2], column[(seeds - 1) / 2]);
  }
  return isobar::tensor({depth, 2}, table);
}
