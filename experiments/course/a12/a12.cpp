#include "a12.h"

#include <cmath>

// Task 1.
namespace {

// How many windows fit along an axis.
int64_t windows(int64_t size, int64_t kernel, int64_t stride, int64_t padding) {
  return size + 2 * padding < kernel ? 0 : (size + 2 * padding - kernel) / stride + 1;
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t padding) {
  const int64_t images = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3),
                outputs = weight.size(0), kernel = weight.size(2), across = weight.size(3),
                rows = windows(height, kernel, stride, padding),
                columns = windows(width, across, stride, padding);
  check(weight.size(1) == channels && rows > 0 && columns > 0, "conv2d: x {} and weight {} do not fit",
        x.shape(), weight.shape());
  Tensor y({images, outputs, rows, columns}, Dtype::f64);
  double* out = raw::write<double>(y);
  const double *in = x.data<double>(), *w = weight.data<double>(), *b = bias.data<double>();
  for (int64_t n = 0; n < images; ++n)
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t p = 0; p < rows; ++p)
        for (int64_t q = 0; q < columns; ++q) {
          double sum = b[o];
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < kernel; ++i)
              for (int64_t j = 0; j < across; ++j) {
                const int64_t h = p * stride + i - padding, v = q * stride + j - padding;
                if (h >= 0 && h < height && v >= 0 && v < width)
                  sum += in[((n * channels + c) * height + h) * width + v] *
                         w[((o * channels + c) * kernel + i) * across + j];
              }
          *out++ = sum;
        }
  return y;
}

// Task 2.
ConvGradients conv2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, int64_t stride,
                              int64_t padding) {
  // Each term of the forward pass is a product of a number of x and one of the weight: it has two adjoints.
  const int64_t images = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3),
                outputs = weight.size(0), kernel = weight.size(2), across = weight.size(3);
  ConvGradients g{isobar::zeros(x.shape(), Dtype::f64), isobar::zeros(weight.shape(), Dtype::f64),
                  isobar::zeros({outputs}, Dtype::f64)};
  double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight),
         *db = raw::write<double>(g.dbias);
  const double *in = x.data<double>(), *w = weight.data<double>(), *d = dy.data<double>();
  for (int64_t n = 0; n < images; ++n)
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t p = 0; p < dy.size(2); ++p)
        for (int64_t q = 0; q < dy.size(3); ++q, ++d) {
          db[o] += *d;
          for (int64_t c = 0; c < channels; ++c)
            for (int64_t i = 0; i < kernel; ++i)
              for (int64_t j = 0; j < across; ++j) {
                const int64_t row = p * stride + i - padding, column = q * stride + j - padding;
                if (row < 0 || row >= height || column < 0 || column >= width) continue;
                const int64_t from = ((n * channels + c) * height + row) * width + column,
                              by = ((o * channels + c) * kernel + i) * across + j;
                dx[from] += w[by] * *d;
                dw[by] += in[from] * *d;
              }
        }
  return g;
}

// Task 3.
BatchNorm batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const int64_t images = x.size(0), channels = x.size(1), places = x.size(2) * x.size(3),
                count = images * places;
  check(count > 1, "batch_norm: wanted more than one number a channel, got {}", x.shape());
  BatchNorm out{Tensor(x.shape(), Dtype::f64), Tensor({channels}, Dtype::f64),
                Tensor({channels}, Dtype::f64)};
  double *y = raw::write<double>(out.y), *means = raw::write<double>(out.mean),
         *rstds = raw::write<double>(out.rstd);
  const double *in = x.data<double>(), *w = weight.data<double>(), *b = bias.data<double>();
  for (int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t i = 0; i < places; ++i) sum += in[(n * channels + c) * places + i];
    const double mean = sum / count;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t i = 0; i < places; ++i) {
        const double off = in[(n * channels + c) * places + i] - mean;
        squares += off * off;
      }
    means[c] = mean;
    rstds[c] = 1 / std::sqrt(squares / count + eps);
    for (int64_t n = 0; n < images; ++n)
      for (int64_t i = 0; i < places; ++i) {
        const int64_t at = (n * channels + c) * places + i;
        y[at] = (in[at] - mean) * rstds[c] * w[c] + b[c];
      }
  }
  return out;
}

NormGradients batch_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                  const BatchNorm& saved) {
  // As LayerNorm's, over a channel: with dz = dy · w, dx = rstd (dz − mean dz − z · mean(dz · z)).
  const int64_t images = x.size(0), channels = x.size(1), places = x.size(2) * x.size(3),
                count = images * places;
  NormGradients g{Tensor(x.shape(), Dtype::f64), Tensor({channels}, Dtype::f64),
                  Tensor({channels}, Dtype::f64)};
  double *dx = raw::write<double>(g.dx), *dw = raw::write<double>(g.dweight),
         *db = raw::write<double>(g.dbias);
  const double *in = x.data<double>(), *d = dy.data<double>(), *w = weight.data<double>();
  for (int64_t c = 0; c < channels; ++c) {
    const double mean = saved.mean.data<double>()[c], rstd = saved.rstd.data<double>()[c];
    double first = 0, second = 0;  // Σ dy and Σ dy · z
    for (int64_t n = 0; n < images; ++n)
      for (int64_t i = 0; i < places; ++i) {
        const int64_t at = (n * channels + c) * places + i;
        first += d[at];
        second += d[at] * (in[at] - mean) * rstd;
      }
    db[c] = first;
    dw[c] = second;
    for (int64_t n = 0; n < images; ++n)
      for (int64_t i = 0; i < places; ++i) {
        const int64_t at = (n * channels + c) * places + i;
        dx[at] = rstd * w[c] * (d[at] - first / count - (in[at] - mean) * rstd * second / count);
      }
  }
  return g;
}

// Task 4.
Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const int64_t channels = x.size(1), places = x.size(2) * x.size(3);
  check(places > 1, "instance_norm: wanted more than one number a channel of an image, got {}", x.shape());
  Tensor y(x.shape(), Dtype::f64);
  for (int64_t plane = 0; plane < x.size(0) * channels; ++plane) {
    const double *in = x.data<double>() + plane * places, w = weight.data<double>()[plane % channels],
                 b = bias.data<double>()[plane % channels];
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < places; ++i) sum += in[i];
    for (int64_t i = 0; i < places; ++i) squares += std::pow(in[i] - sum / places, 2);
    const double rstd = 1 / std::sqrt(squares / places + eps);
    for (int64_t i = 0; i < places; ++i)
      raw::write<double>(y)[plane * places + i] = (in[i] - sum / places) * rstd * w + b;
  }
  return y;
}
