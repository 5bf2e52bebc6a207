#include "a3.h"

#include <algorithm>
#include <cmath>

// Task 1.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check(x.ndim() == 2 && weight.ndim() == 2 && x.size(1) == weight.size(1),
        "linear: wanted x (N, K) and weight (M, K), got {} and {}", x.shape(), weight.shape());
  const int64_t rows = x.size(0), inputs = x.size(1), outputs = weight.size(0);
  check(!bias.defined() || bias.shape() == Shape{outputs}, "linear: wanted bias [{}], got {}", outputs,
        bias.defined() ? bias.shape() : Shape{});
  Tensor y({rows, outputs}, Dtype::f64);
  double* const out = raw::write<double>(y);
  const double *in = x.data<double>(), *w = weight.data<double>();
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t m = 0; m < outputs; ++m) {
      double sum = bias.defined() ? bias.data<double>()[m] : 0;
      for (int64_t k = 0; k < inputs; ++k) sum += in[n * inputs + k] * w[m * inputs + k];
      out[n * outputs + m] = sum;
    }
  return y;
}

LinearGradients linear_backward(const Tensor& dy, const Tensor& x, const Tensor& weight) {
  const int64_t rows = x.size(0), inputs = x.size(1), outputs = weight.size(0);
  LinearGradients g{isobar::zeros(x.shape(), Dtype::f64), isobar::zeros(weight.shape(), Dtype::f64),
                    isobar::zeros({outputs}, Dtype::f64)};
  double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight),
         *db = raw::write<double>(g.dbias);
  const double *in = x.data<double>(), *w = weight.data<double>();
  for (int64_t n = 0; n < rows; ++n)
    for (int64_t m = 0; m < outputs; ++m) {
      const double d = dy.data<double>()[n * outputs + m];
      db[m] += d;
      for (int64_t k = 0; k < inputs; ++k) {
        dx[n * inputs + k] += d * w[m * inputs + k];
        dw[m * inputs + k] += d * in[n * inputs + k];
      }
    }
  return g;
}

// Task 2.
Tensor relu(const Tensor& x) {
  Tensor y = raw::clone(x);
  double* const out = raw::write<double>(y);
  for (int64_t i = 0; i < y.numel(); ++i) out[i] = out[i] <= 0 ? 0 : out[i];  // false for a NaN
  return y;
}

Tensor relu_backward(const Tensor& dy, const Tensor& x) {
  Tensor dx = raw::clone(dy);
  double* const out = raw::write<double>(dx);
  for (int64_t i = 0; i < dx.numel(); ++i)
    if (x.data<double>()[i] <= 0) out[i] = 0;
  return dx;
}

// Task 3.
namespace {

Tensor uniform(int64_t out, int64_t in, double bound, const Rng& rng) {
  Tensor w({out, in}, Dtype::f64);
  double* const values = raw::write<double>(w);
  for (int64_t i = 0; i < w.numel(); ++i) values[i] = bound * (2 * rng.uniform_at(i) - 1);
  return w;
}

}  // namespace

Tensor xavier_uniform(int64_t out, int64_t in, const Rng& rng) {
  return uniform(out, in, std::sqrt(6.0 / (in + out)), rng);
}

Tensor he_normal(int64_t out, int64_t in, const Rng& rng) {
  Tensor w({out, in}, Dtype::f64);
  double* const values = raw::write<double>(w);
  for (int64_t i = 0; i < w.numel(); ++i) values[i] = std::sqrt(2.0 / in) * rng.normal_at(i);
  return w;
}

Tensor torch_default(int64_t out, int64_t in, const Rng& rng) {
  return uniform(out, in, 1 / std::sqrt(in), rng);
}

// Task 4.
Tensor log_softmax(const Tensor& x) {
  const int64_t width = x.size(-1);
  Tensor y = raw::clone(x);
  double* row = raw::write<double>(y);
  for (int64_t n = 0; n < x.size(0); ++n, row += width) {
    const double max = *std::max_element(row, row + width);
    double sum = 0;
    for (int64_t v = 0; v < width; ++v) sum += std::exp(row[v] - max);
    for (int64_t v = 0; v < width; ++v) row[v] -= max + std::log(sum);
  }
  return y;
}

Tensor log_softmax_backward(const Tensor& dy, const Tensor& y) {
  const int64_t width = y.size(-1);
  Tensor dx = raw::clone(dy);
  double* row = raw::write<double>(dx);
  const double* log_p = y.data<double>();
  for (int64_t n = 0; n < y.size(0); ++n, row += width, log_p += width) {
    double sum = 0;
    for (int64_t v = 0; v < width; ++v) sum += row[v];
    for (int64_t v = 0; v < width; ++v) row[v] -= std::exp(log_p[v]) * sum;
  }
  return dx;
}

// Task 5.
namespace {

// The target of row n, checked; V, which is none, where it is ignored.
int64_t target_of(const Tensor& targets, int64_t n, int64_t classes, int64_t ignore) {
  const int64_t target = targets.data<int64_t>()[n];
  if (target == ignore) return classes;
  check(target >= 0 && target < classes, "cross_entropy: wanted targets in [0, {}), got {}", classes, target);
  return target;
}

}  // namespace

double cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  const int64_t classes = logits.size(1);
  const Tensor log_p = log_softmax(logits);
  double sum = 0, counted = 0;
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const int64_t target = target_of(targets, n, classes, ignore);
    if (target == classes) continue;
    sum -= log_p.data<double>()[n * classes + target];
    ++counted;
  }
  return sum / counted;  // 0 / 0 is NaN
}

Tensor cross_entropy_backward(const Tensor& logits, const Tensor& targets, int64_t ignore) {
  const int64_t classes = logits.size(1);
  Tensor dx = log_softmax(logits);
  double* const out = raw::write<double>(dx);
  double counted = 0;
  for (int64_t n = 0; n < logits.size(0); ++n) counted += target_of(targets, n, classes, ignore) < classes;
  for (int64_t n = 0; n < logits.size(0); ++n) {
    const int64_t target = target_of(targets, n, classes, ignore);
    for (int64_t v = 0; v < classes; ++v) {
      double& d = out[n * classes + v];
      d = target == classes ? 0 : (std::exp(d) - (v == target)) / counted;
    }
  }
  return dx;
}
