// Gradients by the whole Jacobian of a row; statistics by Welford's recurrence; composed forms with other
// ops.
#include <cmath>

#include "a4.h"

namespace {

double at(const Tensor& x, int64_t n, int64_t c) { return x.data<double>()[n * x.size(1) + c]; }

// dx of z = (x − centred·mean) r, by ∂z_j/∂x_i = r (δ_ij − centred/C − z_i z_j / C).
Tensor through_jacobian(const Tensor& dy, const Tensor& x, const Tensor& weight, const Tensor& mean,
                        const Tensor& r) {
  Tensor dx = isobar::zeros(x.shape(), Dtype::f64);
  const int64_t width = x.size(1);
  for (int64_t n = 0; n < x.size(0); ++n) {
    const double centre = mean.defined() ? mean.at({n}) : 0, scale = r.at({n});
    for (int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < width; ++j) {
        const double zi = (at(x, n, i) - centre) * scale, zj = (at(x, n, j) - centre) * scale;
        sum += at(dy, n, j) * weight.at({j}) * scale * ((i == j) - (mean.defined() + zi * zj) / width);
      }
      raw::write<double>(dx)[n * width + i] = sum;
    }
  }
  return dx;
}

Tensor column_sums(const Tensor& dy, const Tensor& x, const Tensor& mean, const Tensor& r) {
  Tensor dw = isobar::zeros({x.size(1)}, Dtype::f64);
  for (int64_t c = 0; c < x.size(1); ++c) {
    double sum = 0;
    for (int64_t n = 0; n < x.size(0); ++n)
      sum +=
          at(dy, n, c) * (r.defined() ? (at(x, n, c) - (mean.defined() ? mean.at({n}) : 0)) * r.at({n}) : 1);
    raw::write<double>(dw)[c] = sum;
  }
  return dw;
}

double length(const Tensor& x) {
  double all = 0;
  for (const double v : x.to_vector<double>()) all = std::hypot(all, v);
  return all;
}

}  // namespace

Tensor layer_norm_composed(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const double count = static_cast<double>(x.size(-1));
  const Tensor mu = isobar::sum(x, {-1}, true) * (1 / count), off = x - mu;
  const Tensor sigma = isobar::sqrt(isobar::sum(off * off, {-1}, true) / count + eps);
  return bias + weight * (off / sigma);
}

Tensor rms_norm_composed(const Tensor& x, const Tensor& weight, double eps) {
  return isobar::multiply(
      isobar::divide(x, isobar::sqrt(isobar::affine(isobar::mean(x * x, {-1}, true), 1, eps))), weight);
}

LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const Shape wanted{x.size(1)};
  if (!(weight.shape() == wanted) || !(bias.shape() == wanted))
    isobar::throw_error(
        fmt::format("layer_norm of {}: got {} and {}", x.shape(), weight.shape(), bias.shape()));
  LayerNorm out{raw::clone(x), isobar::zeros({x.size(0)}, Dtype::f64),
                isobar::zeros({x.size(0)}, Dtype::f64)};
  for (int64_t n = 0; n < x.size(0); ++n) {
    double mean = 0, squares = 0;  // Welford 1962
    for (int64_t c = 0; c < x.size(1); ++c) {
      const double delta = at(x, n, c) - mean;
      mean += delta / (c + 1);
      squares += delta * (at(x, n, c) - mean);
    }
    const double root = std::sqrt(squares / x.size(1) + eps);
    for (int64_t c = 0; c < x.size(1); ++c)
      raw::write<double>(out.y)[n * x.size(1) + c] =
          (at(x, n, c) - mean) / root * weight.at({c}) + bias.at({c});
    raw::write<double>(out.mean)[n] = mean;
    raw::write<double>(out.rstd)[n] = 1 / root;
  }
  return out;
}

Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved) {
  return {through_jacobian(dy, x, weight, saved.mean, saved.rstd), column_sums(dy, x, saved.mean, saved.rstd),
          column_sums(dy, x, {}, {})};
}

RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  check(weight.ndim() == 1 && weight.size(0) == x.size(1), "rms_norm: wanted one weight a column, got {}",
        weight.shape());
  RmsNorm out{raw::clone(x), isobar::zeros({x.size(0)}, Dtype::f64)};
  for (int64_t n = 0; n < x.size(0); ++n) {
    double mean = 0;
    for (int64_t c = 0; c < x.size(1); ++c) mean += (at(x, n, c) * at(x, n, c) - mean) / (c + 1);
    raw::write<double>(out.rrms)[n] = std::sqrt(1 / (mean + eps));
    for (int64_t c = 0; c < x.size(1); ++c)
      raw::write<double>(out.y)[n * x.size(1) + c] = weight.at({c}) * at(x, n, c) * out.rrms.at({n});
  }
  return out;
}

Gradients rms_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const RmsNorm& saved) {
  return {through_jacobian(dy, x, weight, {}, saved.rrms), column_sums(dy, x, {}, saved.rrms), {}};
}

Tensor dyt(const Tensor& x, double alpha, const Tensor& weight, const Tensor& bias) {
  Tensor y(x.shape(), Dtype::f64);
  for (int64_t n = 0; n < x.size(0); ++n)
    for (int64_t c = 0; c < x.size(1); ++c)
      raw::write<double>(y)[n * x.size(1) + c] =
          bias.at({c}) + weight.at({c}) * std::tanh(at(x, n, c) * alpha);
  return y;
}

DytGradients dyt_backward(const Tensor& dy, const Tensor& x, double alpha, const Tensor& weight) {
  const Tensor one = isobar::ones({x.size(1)}, Dtype::f64), none = isobar::zeros({x.size(1)}, Dtype::f64);
  const Tensor t = dyt(x, alpha, one, none);
  DytGradients g{raw::clone(x), 0, column_sums(dy, t, {}, isobar::ones({x.size(0)}, Dtype::f64)),
                 column_sums(dy, x, {}, {})};
  for (int64_t n = 0; n < x.size(0); ++n)
    for (int64_t c = 0; c < x.size(1); ++c) {
      const double before = at(dy, n, c) * weight.at({c}) * (1 - at(t, n, c)) * (1 + at(t, n, c));
      raw::write<double>(g.dx)[n * x.size(1) + c] = alpha * before;
      g.dalpha += at(x, n, c) * before;
    }
  return g;
}

Tensor compare(const Tensor& x, const Tensor& dy) {
  const Tensor one = isobar::ones({x.size(1)}, Dtype::f64), none = isobar::zeros({x.size(1)}, Dtype::f64);
  const LayerNorm l = layer_norm(x, one, none, 1e-5);
  const RmsNorm r = rms_norm(x, one, 1e-5);
  const std::vector<Tensor> forward{l.y, r.y, dyt(x, 0.5, one, none)},
      backward{layer_norm_backward(dy, x, one, l).dx, rms_norm_backward(dy, x, one, r).dx,
               dyt_backward(dy, x, 0.5, one).dx};
  std::vector<double> table;
  for (int i = 0; i < 3; ++i) {
    table.push_back(length(forward[i]) / length(x));
    table.push_back(length(backward[i]) / length(dy));
  }
  return isobar::tensor({3, 2}, table);
}
