#include "a2.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

// f of each index, in a's shape.
Tensor elementwise(const Shape& shape, const std::function<double(int64_t)>& f) {
  Tensor y(shape, Dtype::f64);
  double* const out = raw::write<double>(y);
  for (int64_t i = 0; i < y.numel(); ++i) out[i] = f(i);
  return y;
}

}  // namespace

// Task 1.
Tensor sum_to(const Tensor& x, const Shape& shape) {
  bool fits = shape.ndim() <= x.ndim();
  for (int d = 1; fits && d <= shape.ndim(); ++d) fits = shape[-d] == 1 || shape[-d] == x.size(-d);
  check(fits, "sum_to: {} does not broadcast to {}", shape, x.shape());
  Tensor y = isobar::zeros(shape, Dtype::f64);
  double* const out = raw::write<double>(y);
  const double* const in = x.data<double>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    // Where element i comes from: its index, digit by digit from the last dimension.
    int64_t rest = i, place = 0, step = 1;
    for (int d = 1; d <= shape.ndim(); ++d) {
      const int64_t digit = rest % x.size(-d);
      rest /= x.size(-d);
      if (shape[-d] != 1) place += digit * step;
      step *= shape[-d];
    }
    out[place] += in[i];
  }
  return y;
}

// Task 2.
Two multiply_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  const Tensor wide_a = broadcast_to(a, dy.shape()), wide_b = broadcast_to(b, dy.shape());
  const double *d = dy.data<double>(), *p = wide_a.data<double>(), *q = wide_b.data<double>();
  return {sum_to(elementwise(dy.shape(), [&](int64_t i) { return d[i] * q[i]; }), a.shape()),
          sum_to(elementwise(dy.shape(), [&](int64_t i) { return d[i] * p[i]; }), b.shape())};
}

Two divide_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  const Tensor wide_a = broadcast_to(a, dy.shape()), wide_b = broadcast_to(b, dy.shape());
  const double *d = dy.data<double>(), *p = wide_a.data<double>(), *q = wide_b.data<double>();
  return {
      sum_to(elementwise(dy.shape(), [&](int64_t i) { return d[i] / q[i]; }), a.shape()),
      sum_to(elementwise(dy.shape(), [&](int64_t i) { return -d[i] * p[i] / (q[i] * q[i]); }), b.shape())};
}

// Task 3.
Tensor matmul(const Tensor& a, const Tensor& b) {
  check(a.ndim() == 2 && b.ndim() == 2 && a.size(1) == b.size(0),
        "matmul: wanted (M, K) and (K, N), got {} and {}", a.shape(), b.shape());
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  Tensor y = isobar::zeros({rows, columns}, Dtype::f64);
  double* const out = raw::write<double>(y);
  const double *p = a.data<double>(), *q = b.data<double>();
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n) out[m * columns + n] += p[m * depth + k] * q[k * columns + n];
  return y;
}

namespace {

Tensor transposed(const Tensor& x) {
  const Strides& s = x.strides();
  return raw::clone(raw::as_strided(x, {x.size(1), x.size(0)}, {s[1], s[0]}));
}

}  // namespace

Two matmul_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  return {matmul(dy, transposed(b)), matmul(transposed(a), dy)};
}

// Task 4.
Tensor softmax(const Tensor& x) {
  const int64_t width = x.size(-1), rows = width ? x.numel() / width : 0;
  Tensor y(x.shape(), Dtype::f64);
  double* out = raw::write<double>(y);
  const double* in = x.data<double>();
  for (int64_t r = 0; r < rows; ++r, in += width, out += width) {
    const double max = *std::max_element(in, in + width);
    double sum = 0;
    for (int64_t c = 0; c < width; ++c) sum += out[c] = std::exp(in[c] - max);
    for (int64_t c = 0; c < width; ++c) out[c] /= sum;
  }
  return y;
}

Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  const int64_t width = y.size(-1), rows = width ? y.numel() / width : 0;
  Tensor dx(y.shape(), Dtype::f64);
  double* out = raw::write<double>(dx);
  const double *d = dy.data<double>(), *p = y.data<double>();
  for (int64_t r = 0; r < rows; ++r, d += width, p += width, out += width) {
    double dot = 0;
    for (int64_t c = 0; c < width; ++c) dot += d[c] * p[c];
    for (int64_t c = 0; c < width; ++c) out[c] = p[c] * (d[c] - dot);
  }
  return dx;
}

Tensor max_backward(const Tensor& dy, const Tensor& x) {
  const int64_t width = x.size(-1), rows = width ? x.numel() / width : 0;
  Tensor dx = isobar::zeros(x.shape(), Dtype::f64);
  double* out = raw::write<double>(dx);
  const double *d = dy.data<double>(), *in = x.data<double>();
  for (int64_t r = 0; r < rows; ++r, in += width, out += width) {
    const double max = *std::max_element(in, in + width);
    const double ties = std::count(in, in + width, max);
    for (int64_t c = 0; c < width; ++c)
      if (in[c] == max) out[c] = d[r] / ties;
  }
  return dx;
}

// Task 5.
Tensor numeric_gradient(const Function& f, const Tensor& x, const Tensor& dy, double h) {
  const auto value = [&](int64_t at, double shift) {
    Tensor moved = raw::clone(x);
    raw::write<double>(moved)[at] += shift;
    const Tensor y = raw::contiguous(f(moved));
    double sum = 0;
    for (int64_t i = 0; i < y.numel(); ++i) sum += dy.data<double>()[i] * y.data<double>()[i];
    return sum;
  };
  Tensor dx(x.shape(), Dtype::f64);
  double* const out = raw::write<double>(dx);
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = (value(i, h) - value(i, -h)) / (2 * h);
  return dx;
}

double gradient_error(const Tensor& analytic, const Tensor& numeric) {
  const std::vector<double> a = analytic.to_vector<double>(), n = numeric.to_vector<double>();
  double size = 0, worst = 0;
  for (size_t i = 0; i < n.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(n[i])) return std::numeric_limits<double>::infinity();
    size = std::max(size, std::abs(n[i]));
  }
  for (size_t i = 0; i < n.size(); ++i)
    if (a[i] != n[i])
      worst =
          std::max(worst, std::abs(a[i] - n[i]) / std::max({std::abs(a[i]), std::abs(n[i]), 1e-3 * size}));
  return worst;
}
