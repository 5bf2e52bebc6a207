// sum_to one axis at a time; products by dot products; gradients of max by sorting.
#include <cmath>
#include <limits>
#include <numeric>

#include "a2.h"

namespace {

using Values = std::vector<double>;

// x summed over one axis, which stays with extent one.
Tensor sum_axis(const Tensor& x, int axis) {
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= x.size(d);
  for (int d = axis + 1; d < x.ndim(); ++d) inner *= x.size(d);
  const Values in = x.to_vector<double>();
  Values out(outer * inner, 0.0);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i)
      for (int64_t a = 0; a < x.size(axis); ++a) out[o * inner + i] += in[(o * x.size(axis) + a) * inner + i];
  return isobar::tensor(x.shape().with(axis, 1), out);
}

Tensor combine(const Tensor& dy, const Tensor& a, const Tensor& b, double (*f)(double, double, double)) {
  const Values d = dy.to_vector<double>(), p = broadcast_to(a, dy.shape()).to_vector<double>(),
               q = broadcast_to(b, dy.shape()).to_vector<double>();
  Values out;
  for (size_t i = 0; i < d.size(); ++i) out.push_back(f(d[i], p[i], q[i]));
  return isobar::tensor(dy.shape(), out);
}

}  // namespace

Tensor sum_to(const Tensor& x, const Shape& shape) {
  Shape padded = shape;
  while (padded.ndim() < x.ndim()) padded = padded.inserted(0, 1);
  bool fits = padded.ndim() == x.ndim();
  for (int d = 0; fits && d < x.ndim(); ++d) fits = padded[d] == x.size(d) || padded[d] == 1;
  check(fits, "sum_to: cannot sum {} to {}", x.shape(), shape);
  Tensor y = raw::clone(x);
  for (int d = 0; d < x.ndim(); ++d)
    if (padded[d] == 1 && x.size(d) != 1) y = sum_axis(y, d);
  return raw::clone(raw::as_strided(y, shape, shape.strides()));
}

Two multiply_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  const Tensor da = combine(dy, a, b, [](double d, double, double q) { return d * q; });
  const Tensor db = combine(dy, a, b, [](double d, double p, double) { return d * p; });
  return {sum_to(da, a.shape()), sum_to(db, b.shape())};
}

Two divide_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  const Tensor da = combine(dy, a, b, [](double d, double, double q) { return d * (1 / q); });
  const Tensor db = combine(dy, a, b, [](double d, double p, double q) { return -(d / q) * (p / q); });
  return {sum_to(da, a.shape()), sum_to(db, b.shape())};
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  const bool fits = a.ndim() == 2 && b.ndim() == 2 && a.size(1) == b.size(0);
  check(fits, "matmul: got {} and {}", a.shape(), b.shape());
  Values y;
  for (int64_t m = 0; m < a.size(0); ++m)
    for (int64_t n = 0; n < b.size(1); ++n) {
      double dot = 0;
      for (int64_t k = a.size(1) - 1; k >= 0; --k) dot += a.at({m, k}) * b.at({k, n});
      y.push_back(dot);
    }
  return isobar::tensor({a.size(0), b.size(1)}, y);
}

Two matmul_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  Values da(a.numel(), 0.0), db(b.numel(), 0.0);
  for (int64_t m = 0; m < a.size(0); ++m)
    for (int64_t k = 0; k < a.size(1); ++k)
      for (int64_t n = 0; n < b.size(1); ++n) {
        da[m * a.size(1) + k] += dy.at({m, n}) * b.at({k, n});
        db[k * b.size(1) + n] += dy.at({m, n}) * a.at({m, k});
      }
  return {isobar::tensor(a.shape(), da), isobar::tensor(b.shape(), db)};
}

Tensor softmax(const Tensor& x) {
  // exp(x − log Σ exp x), the logarithm taken stably
  Values v = x.to_vector<double>();
  const size_t width = x.size(-1);
  for (size_t start = 0; start < v.size(); start += width) {
    double top = v[start];
    for (size_t c = 1; c < width; ++c) top = std::fmax(top, v[start + c]);
    double sum = 0;
    for (size_t c = 0; c < width; ++c) sum += std::exp(v[start + c] - top);
    for (size_t c = 0; c < width; ++c) v[start + c] = std::exp(v[start + c] - (top + std::log(sum)));
  }
  return isobar::tensor(x.shape(), v);
}

Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  // by the Jacobian: dx_i = Σ_j dy_j y_j (δ_ij − y_i)
  const Values d = dy.to_vector<double>(), p = y.to_vector<double>();
  Values dx(p.size(), 0.0);
  const size_t width = y.size(-1);
  for (size_t start = 0; start < p.size(); start += width)
    for (size_t i = start; i < start + width; ++i)
      for (size_t j = start; j < start + width; ++j) dx[i] += d[j] * p[j] * ((i == j) - p[i]);
  return isobar::tensor(y.shape(), dx);
}

Tensor max_backward(const Tensor& dy, const Tensor& x) {
  const Values d = dy.to_vector<double>(), v = x.to_vector<double>();
  Values dx(v.size(), 0.0);
  const size_t width = x.size(-1);
  for (size_t r = 0; r < d.size(); ++r) {
    std::vector<size_t> winners{r * width};
    for (size_t i = r * width + 1; i < (r + 1) * width; ++i) {
      if (v[i] > v[winners[0]]) winners.clear();
      if (winners.empty() || v[i] == v[winners[0]]) winners.push_back(i);
    }
    for (const size_t i : winners) dx[i] = d[r] / winners.size();
  }
  return isobar::tensor(x.shape(), dx);
}

Tensor numeric_gradient(const Function& f, const Tensor& x, const Tensor& dy, double h) {
  const Values d = dy.to_vector<double>();
  Values dx;
  for (int64_t i = 0; i < x.numel(); ++i) {
    Values up = x.to_vector<double>(), down = up;
    up[i] += h;
    down[i] -= h;
    const Values high = f(isobar::tensor(x.shape(), up)).to_vector<double>(),
                 low = f(isobar::tensor(x.shape(), down)).to_vector<double>();
    double sum = 0;
    for (size_t k = 0; k < d.size(); ++k) sum += d[k] * (high[k] - low[k]) / (2 * h);
    dx.push_back(sum);
  }
  return isobar::tensor(x.shape(), dx);
}

double gradient_error(const Tensor& analytic, const Tensor& numeric) {
  const Values a = analytic.to_vector<double>(), n = numeric.to_vector<double>();
  double largest = 0, worst = 0;
  for (const double v : n) largest = std::fmax(largest, std::fabs(v));
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(a[i] - n[i]);
    if (!(std::fabs(a[i]) < INFINITY && std::fabs(n[i]) < INFINITY)) return INFINITY;
    const double scale = std::fmax(std::fmax(std::fabs(a[i]), std::fabs(n[i])), largest / 1000);
    if (difference > 0) worst = std::fmax(worst, difference / scale);
  }
  return worst;
}
