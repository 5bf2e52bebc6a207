// Everything by rows of plain vectors; the softmax in one running pass (Milakov & Gimelshein 2018).
#include <cmath>

#include "a3.h"

namespace {

using Row = std::vector<double>;

std::vector<Row> rows_of(const Tensor& x) {
  const Row all = x.to_vector<double>();
  std::vector<Row> rows;
  for (int64_t n = 0; n < x.size(0); ++n)
    rows.emplace_back(all.begin() + n * x.size(1), all.begin() + (n + 1) * x.size(1));
  return rows;
}

Tensor tensor_of(const std::vector<Row>& rows, const Shape& shape) {
  Row all;
  for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  return isobar::tensor(shape, all);
}

double dot(const Row& a, const Row& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double log_sum_exp(const Row& row) {
  double max = -INFINITY, sum = 0;
  for (const double v : row) {
    const double next = std::fmax(max, v);
    sum = sum * std::exp(max - next) + std::exp(v - next);
    max = next;
  }
  return max + std::log(sum);
}

}  // namespace

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (x.ndim() != 2 || weight.ndim() != 2 || x.size(1) != weight.size(1))
    isobar::throw_error(fmt::format("linear: x and weight do not fit: {} and {}", x.shape(), weight.shape()));
  if (bias.defined() && !(bias.shape() == Shape{weight.size(0)}))
    isobar::throw_error(fmt::format("linear: bias has {}", bias.shape()));
  const std::vector<Row> in = rows_of(x), w = rows_of(weight);
  std::vector<Row> y;
  for (const Row& row : in) {
    y.emplace_back();
    for (const Row& unit : w) y.back().push_back(dot(row, unit));
    for (size_t m = 0; bias.defined() && m < w.size(); ++m) y.back()[m] += bias.at({int64_t(m)});
  }
  return tensor_of(y, {x.size(0), weight.size(0)});
}

Tensor xavier_uniform(int64_t out, int64_t in, const Rng& rng) {
  const double a = std::sqrt(3.0) * std::sqrt(2.0 / double(in + out));
  return rng.uniform({out, in}, -a, a, Dtype::f64);
}

Tensor he_normal(int64_t out, int64_t in, const Rng& rng) {
  return rng.normal({out, in}, 0, std::sqrt(2.0 / double(in)), Dtype::f64);
}

Tensor torch_default(int64_t out, int64_t in, const Rng& rng) {
  return rng.uniform({out, in}, -std::pow(in, -0.5), std::pow(in, -0.5), Dtype::f64);
}

Tensor log_softmax(const Tensor& x) {
  std::vector<Row> rows = rows_of(x);
  for (Row& row : rows) {
    const double total = log_sum_exp(row);
    for (double& v : row) v -= total;
  }
  return tensor_of(rows, x.shape());
}

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y) {
  std::vector<Row> d = rows_of(dy), logs = rows_of(y);
  for (size_t n = 0; n < d.size(); ++n) {
    const double total = dot(d[n], Row(d[n].size(), 1.0));
    for (size_t v = 0; v < d[n].size(); ++v) d[n][v] -= std::exp(logs[n][v]) * total;
  }
  return tensor_of(d, y.shape());
}

double cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  const std::vector<Row> rows = rows_of(logits);
  double total = 0;
  int64_t count = 0;
  for (size_t n = 0; n < rows.size(); ++n) {
    const int64_t t = targets.at({int64_t(n)});
    if (t == ignore) continue;
    if (t < 0 || t >= logits.size(1))
      isobar::throw_error(fmt::format("cross_entropy: target {} of {}", t, rows[n].size()));
    total += log_sum_exp(rows[n]) - rows[n][t];
    ++count;
  }
  return count ? total / count : NAN;
}

Tensor cross_entropy_backward(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  cross_entropy(logits, targets, ignore);  // checks the targets
  // through log_softmax: dy is −1/count at the targets
  std::vector<Row> dy(logits.size(0), Row(logits.size(1)));
  int64_t count = 0;
  for (const int64_t t : targets.to_vector<int64_t>()) count += t != ignore;
  for (size_t n = 0; n < dy.size(); ++n)
    if (const int64_t t = targets.at({int64_t(n)}); t != ignore) dy[n][t] = -1.0 / count;
  return log_softmax_backward(tensor_of(dy, logits.shape()), log_softmax(logits));
}
