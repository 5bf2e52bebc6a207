#include "a4.h"

#include <cmath>

// Task 1.
Tensor layer_norm_composed(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor centred = x - isobar::mean(x, {-1}, true);
  const Tensor variance = isobar::mean(isobar::square(centred), {-1}, true);
  return centred / isobar::sqrt(variance + eps) * weight + bias;
}

Tensor rms_norm_composed(const Tensor& x, const Tensor& weight, double eps) {
  return x / isobar::sqrt(isobar::mean(isobar::square(x), {-1}, true) + eps) * weight;
}

// Task 2.
LayerNorm layer_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const int64_t rows = x.size(0), width = x.size(1);
  check(weight.shape() == Shape{width} && bias.shape() == Shape{width},
        "layer_norm: wanted weight and bias [{}], got {} and {}", width, weight.shape(), bias.shape());
  LayerNorm out{Tensor(x.shape(), Dtype::f64), Tensor({rows}, Dtype::f64), Tensor({rows}, Dtype::f64)};
  double *y = raw::write<double>(out.y), *means = raw::write<double>(out.mean),
         *rstds = raw::write<double>(out.rstd);
  const double *in = x.data<double>(), *w = weight.data<double>(), *b = bias.data<double>();
  for (int64_t n = 0; n < rows; ++n, in += width, y += width) {
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < width; ++c) sum += in[c];
    const double mean = sum / width;
    for (int64_t c = 0; c < width; ++c) squares += (in[c] - mean) * (in[c] - mean);
    const double rstd = 1 / std::sqrt(squares / width + eps);
    for (int64_t c = 0; c < width; ++c) y[c] = (in[c] - mean) * rstd * w[c] + b[c];
    means[n] = mean;
    rstds[n] = rstd;
  }
  return out;
}

Gradients layer_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                              const LayerNorm& saved) {
  // With z = (x − mean) · rstd and dz = dy · w:  dx = rstd (dz − mean dz − z · mean(dz · z))
  const int64_t rows = x.size(0), width = x.size(1);
  Gradients g{Tensor(x.shape(), Dtype::f64), isobar::zeros({width}, Dtype::f64),
              isobar::zeros({width}, Dtype::f64)};
  double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight),
         *db = raw::write<double>(g.dbias);
  const double *in = x.data<double>(), *d = dy.data<double>(), *w = weight.data<double>();
  g.mean_dz = Tensor({rows}, Dtype::f64);
  g.mean_dz_z = Tensor({rows}, Dtype::f64);
  for (int64_t n = 0; n < rows; ++n, in += width, d += width, dx += width) {
    const double mean = saved.mean.data<double>()[n], rstd = saved.rstd.data<double>()[n];
    double mean_dz = 0, mean_dz_z = 0;
    for (int64_t c = 0; c < width; ++c) {
      const double z = (in[c] - mean) * rstd;
      mean_dz += d[c] * w[c] / width;
      mean_dz_z += d[c] * w[c] * z / width;
      dw[c] += d[c] * z;
      db[c] += d[c];
    }
    raw::write<double>(g.mean_dz)[n] = mean_dz;
    raw::write<double>(g.mean_dz_z)[n] = mean_dz_z;
    for (int64_t c = 0; c < width; ++c)
      dx[c] = rstd * (d[c] * w[c] - mean_dz - (in[c] - mean) * rstd * mean_dz_z);
  }
  return g;
}

// Task 3.
RmsNorm rms_norm(const Tensor& x, const Tensor& weight, double eps) {
  const int64_t rows = x.size(0), width = x.size(1);
  check(weight.shape() == Shape{width}, "rms_norm: wanted weight [{}] for x {}, got {}", width, x.shape(),
        weight.shape());
  RmsNorm out{Tensor(x.shape(), Dtype::f64), Tensor({rows}, Dtype::f64)};
  double *y = raw::write<double>(out.y), *rrms = raw::write<double>(out.rrms);
  const double *in = x.data<double>(), *w = weight.data<double>();
  for (int64_t n = 0; n < rows; ++n, in += width, y += width) {
    double squares = 0;
    for (int64_t c = 0; c < width; ++c) squares += in[c] * in[c];
    rrms[n] = 1 / std::sqrt(squares / width + eps);
    for (int64_t c = 0; c < width; ++c) y[c] = in[c] * rrms[n] * w[c];
  }
  return out;
}

Gradients rms_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, const RmsNorm& saved) {
  // With r = rrms, z = x r and dz = dy · w:  dx = r (dz − z · mean(dz · z))
  const int64_t rows = x.size(0), width = x.size(1);
  Gradients g{Tensor(x.shape(), Dtype::f64), isobar::zeros({width}, Dtype::f64), {}};
  double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight);
  const double *in = x.data<double>(), *d = dy.data<double>(), *w = weight.data<double>();
  g.mean_dz_z = Tensor({rows}, Dtype::f64);
  for (int64_t n = 0; n < rows; ++n, in += width, d += width, dx += width) {
    const double r = saved.rrms.data<double>()[n];
    double dot = 0;
    for (int64_t c = 0; c < width; ++c) {
      dot += d[c] * w[c] * in[c] * r / width;
      dw[c] += d[c] * in[c] * r;
    }
    raw::write<double>(g.mean_dz_z)[n] = dot;
    for (int64_t c = 0; c < width; ++c) dx[c] = r * (d[c] * w[c] - in[c] * r * dot);
  }
  return g;
}

// Task 4.
Tensor dyt(const Tensor& x, double alpha, const Tensor& weight, const Tensor& bias) {
  const int64_t width = x.size(1);
  Tensor y = raw::clone(x);
  double* const out = raw::write<double>(y);
  for (int64_t i = 0; i < y.numel(); ++i)
    out[i] = std::tanh(alpha * out[i]) * weight.data<double>()[i % width] + bias.data<double>()[i % width];
  return y;
}

DytGradients dyt_backward(const Tensor& dy, const Tensor& x, double alpha, const Tensor& weight) {
  const int64_t width = x.size(1);
  DytGradients g{Tensor(x.shape(), Dtype::f64), 0, isobar::zeros({width}, Dtype::f64),
                 isobar::zeros({width}, Dtype::f64)};
  double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight),
         *db = raw::write<double>(g.dbias);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double in = x.data<double>()[i], d = dy.data<double>()[i], t = std::tanh(alpha * in);
    const double slope = d * weight.data<double>()[i % width] * (1 - t * t);
    dx[i] = slope * alpha;
    g.dalpha += slope * in;
    dw[i % width] += d * t;
    db[i % width] += d;
  }
  return g;
}

// Task 5.
namespace {

double length(const Tensor& x) {
  double squares = 0;
  for (int64_t i = 0; i < x.numel(); ++i) squares += x.data<double>()[i] * x.data<double>()[i];
  return std::sqrt(squares);
}

}  // namespace

Tensor compare(const Tensor& x, const Tensor& dy) {
  const Tensor one = isobar::ones({x.size(1)}, Dtype::f64), zero = isobar::zeros({x.size(1)}, Dtype::f64);
  const LayerNorm layer = layer_norm(x, one, zero, 1e-5);
  const RmsNorm rms = rms_norm(x, one, 1e-5);
  const double size = length(x), slope = length(dy);
  return isobar::tensor(
      {3, 2}, std::vector<double>{
                  length(layer.y) / size, length(layer_norm_backward(dy, x, one, layer).dx) / slope,
                  length(rms.y) / size, length(rms_norm_backward(dy, x, one, rms).dx) / slope,
                  length(dyt(x, 0.5, one, zero)) / size, length(dyt_backward(dy, x, 0.5, one).dx) / slope});
}
