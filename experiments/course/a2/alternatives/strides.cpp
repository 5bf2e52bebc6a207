// sum_to by strides that repeat, gradients of operands by the derivative of a·b^k, products by columns.
#include <algorithm>
#include <cmath>
#include <limits>

#include "a2.h"

namespace {

// Calls body(i, place) for each element i of x, with its place in a tensor of `shape`.
template <class Body>
void each(const Shape& all, const Shape& shape, Body body) {
  const Strides steps = isobar::broadcast_strides(shape, shape.strides(), all);
  std::vector<int64_t> digit(all.ndim(), 0);
  for (int64_t i = 0, place = 0; i < all.numel(); ++i) {
    body(i, place);
    for (int d = all.ndim() - 1; d >= 0; --d) {
      place += steps[d];
      if (++digit[d] < all[d]) break;
      place -= steps[d] * all[d];
      digit[d] = 0;
    }
  }
}

// y = a · b^power
Two power_backward(const Tensor& dy, const Tensor& a, const Tensor& b, int power) {
  std::vector<int64_t> at_a(dy.numel()), at_b(dy.numel());
  each(dy.shape(), a.shape(), [&](int64_t i, int64_t place) { at_a[i] = place; });
  each(dy.shape(), b.shape(), [&](int64_t i, int64_t place) { at_b[i] = place; });
  Tensor da = isobar::zeros(a.shape(), Dtype::f64), db = isobar::zeros(b.shape(), Dtype::f64);
  double *wa = raw::write<double>(da), *wb = raw::write<double>(db);
  for (int64_t i = 0; i < dy.numel(); ++i) {
    const double d = dy.data<double>()[i], p = a.data<double>()[at_a[i]], q = b.data<double>()[at_b[i]];
    wa[at_a[i]] += d * std::pow(q, power);
    wb[at_b[i]] += power * d * p * std::pow(q, power - 1);
  }
  return {da, db};
}

}  // namespace

Tensor sum_to(const Tensor& x, const Shape& shape) {
  bool fits = true;
  try {
    fits = isobar::broadcast("sum_to", x.shape(), shape) == x.shape();
  } catch (const isobar::Error&) {
    fits = false;
  }
  check(fits, "sum_to: wanted a shape that broadcasts to {}, got {}", x.shape(), shape);
  Tensor y = isobar::zeros(shape, Dtype::f64);
  double* out = raw::write<double>(y);
  each(x.shape(), shape, [&](int64_t i, int64_t place) { out[place] += x.data<double>()[i]; });
  return y;
}

Two multiply_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  return power_backward(dy, a, b, 1);
}
Two divide_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  return power_backward(dy, a, b, -1);
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.ndim() != 2 || b.ndim() != 2 || a.size(1) != b.size(0))
    isobar::throw_error(fmt::format("matmul: wanted matrices that fit, got {} and {}", a.shape(), b.shape()));
  Tensor y({a.size(0), b.size(1)}, Dtype::f64);
  double* out = raw::write<double>(y);
  for (int64_t n = 0; n < b.size(1); ++n)
    for (int64_t m = 0; m < a.size(0); ++m) {
      double sum = 0;
      for (int64_t k = 0; k < a.size(1); ++k)
        sum += a.data<double>()[m * a.size(1) + k] * b.data<double>()[k * b.size(1) + n];
      out[m * b.size(1) + n] = sum;
    }
  return y;
}

Two matmul_backward(const Tensor& dy, const Tensor& a, const Tensor& b) {
  Tensor da({a.size(0), a.size(1)}, Dtype::f64), db({b.size(0), b.size(1)}, Dtype::f64);
  const double *d = dy.data<double>(), *p = a.data<double>(), *q = b.data<double>();
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  double *wa = raw::write<double>(da), *wb = raw::write<double>(db);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t m = 0; m < rows; ++m) {
      wa[m * depth + k] = 0;
      for (int64_t n = 0; n < columns; ++n) wa[m * depth + k] += d[m * columns + n] * q[k * columns + n];
    }
    for (int64_t n = 0; n < columns; ++n) {
      wb[k * columns + n] = 0;
      for (int64_t m = 0; m < rows; ++m) wb[k * columns + n] += p[m * depth + k] * d[m * columns + n];
    }
  }
  return {da, db};
}

Tensor softmax(const Tensor& x) {
  // 1 / Σ_j exp(x_j − x_i), with the differences held below what overflows
  Tensor y = raw::clone(x);
  double* out = raw::write<double>(y);
  const double* in = x.data<double>();
  const int64_t width = x.size(-1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double* row = in + i / width * width;
    double sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += std::exp(std::min(row[j] - in[i], 700.0));
    out[i] = 1 / sum;
  }
  return y;
}

Tensor softmax_backward(const Tensor& dy, const Tensor& y) {
  Tensor dx = raw::clone(dy);
  double* v = raw::write<double>(dx);
  const double* p = y.data<double>();
  for (int64_t r = 0; r < y.numel(); r += y.size(-1)) {
    double mean = 0;  // of dy under y
    for (int64_t c = r; c < r + y.size(-1); ++c) mean += p[c] * v[c];
    for (int64_t c = r; c < r + y.size(-1); ++c) v[c] = (v[c] - mean) * p[c];
  }
  return dx;
}

Tensor max_backward(const Tensor& dy, const Tensor& x) {
  Tensor dx(x.shape(), Dtype::f64);
  double* out = raw::write<double>(dx);
  const double* in = x.data<double>();
  const int64_t width = x.size(-1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double* row = in + i / width * width;
    int larger = 0, equal = 0;
    for (int64_t j = 0; j < width; ++j) {
      larger += row[j] > in[i];
      equal += row[j] == in[i];
    }
    out[i] = larger ? 0 : dy.data<double>()[i / width] / equal;
  }
  return dx;
}

Tensor numeric_gradient(const Function& f, const Tensor& x, const Tensor& dy, double h) {
  Tensor moved = raw::clone(x), dx = isobar::zeros(x.shape(), Dtype::f64);
  const auto loss = [&] {
    const std::vector<double> y = f(raw::clone(moved)).to_vector<double>(), d = dy.to_vector<double>();
    double total = 0;
    for (size_t i = 0; i < y.size(); ++i) total += y[i] * d[i];
    return total;
  };
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double here = x.data<double>()[i];
    raw::write<double>(moved)[i] = here + h;
    const double up = loss();
    raw::write<double>(moved)[i] = here - h;
    raw::write<double>(dx)[i] = (up - loss()) / (h + h);
    raw::write<double>(moved)[i] = here;
  }
  return dx;
}

double gradient_error(const Tensor& analytic, const Tensor& numeric) {
  const std::vector<double> a = analytic.to_vector<double>(), n = numeric.to_vector<double>();
  const auto smaller = [](double p, double q) { return std::abs(p) < std::abs(q); };
  const double floor = n.empty() ? 0 : 1e-3 * std::abs(*std::max_element(n.begin(), n.end(), smaller));
  double worst = 0;
  for (size_t i = 0; i < n.size(); ++i) {
    if (std::isnan(a[i] - a[i]) || std::isnan(n[i] - n[i])) return std::numeric_limits<double>::infinity();
    const double scale = std::max(floor, std::max(std::abs(a[i]), std::abs(n[i])));
    if (scale > 0) worst = std::max(worst, std::abs(a[i] - n[i]) / scale);
  }
  return worst;
}
