// The convolution as a product of matrices, whose columns are the windows; its dx read from where each place
// was used; the norms of one function, of groups of numbers.
#include <cmath>
#include <functional>

#include "a12.h"

using Values = std::vector<double>;

namespace {

// The windows of image n: (C · K · L, P · Q), with zeros around the image.
Values columns_of(const Tensor& x, const Tensor& weight, int64_t n, int64_t stride, int64_t padding,
                  int64_t rows, int64_t columns) {
  Values found;
  for (int64_t c = 0; c < x.size(1); ++c)
    for (int64_t i = -padding; i < weight.size(2) - padding; ++i)
      for (int64_t j = -padding; j < weight.size(3) - padding; ++j)
        for (int64_t p = 0; p < rows; ++p)
          for (int64_t q = 0; q < columns; ++q) {
            const int64_t h = p * stride + i, v = q * stride + j;
            const bool inside = h >= 0 && h < x.size(2) && v >= 0 && v < x.size(3);
            found.push_back(inside ? x.at({n, c, h, v}) : 0.0);
          }
  return found;
}

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, int64_t stride, int64_t padding) {
  const auto room = [&](int64_t axis) { return x.size(axis) + 2 * padding - weight.size(axis); };
  if (x.size(1) != weight.size(1) || room(2) < 0 || room(3) < 0)
    isobar::throw_error(fmt::format("no window of {} for kernels of {}", x.shape(), weight.shape()));
  const int64_t rows = room(2) / stride + 1, columns = room(3) / stride + 1, places = rows * columns,
                depth = weight.numel() / std::max<int64_t>(1, weight.size(0));
  Values y;
  for (int64_t n = 0; n < x.size(0); ++n) {
    const Values windows = columns_of(x, weight, n, stride, padding, rows, columns);
    for (int64_t o = 0; o < weight.size(0); ++o)
      for (int64_t place = 0; place < places; ++place) {
        y.push_back(0);
        for (int64_t k = 0; k < depth; ++k)
          y.back() += weight.data<double>()[o * depth + k] * windows[k * places + place];
        y.back() += bias.at({o});
      }
  }
  return isobar::tensor({x.size(0), weight.size(0), rows, columns}, y);
}

ConvGradients conv2d_backward(const Tensor& dy, const Tensor& x, const Tensor& weight, int64_t stride,
                              int64_t padding) {
  const int64_t rows = dy.size(2), columns = dy.size(3), places = rows * columns, outputs = dy.size(1);
  Values dx, dw(weight.numel()), db(outputs);
  for (int64_t n = 0; n < x.size(0); ++n) {
    const Values windows = columns_of(x, weight, n, stride, padding, rows, columns);
    for (int64_t o = 0; o < outputs; ++o)
      for (int64_t place = 0; place < places; ++place) {
        const double d = dy.data<double>()[(n * outputs + o) * places + place];
        db[o] += d;
        for (int64_t k = 0; k < weight.numel() / outputs; ++k)
          dw[o * weight.numel() / outputs + k] += windows[k * places + place] * d;
      }
    for (int64_t c = 0; c < x.size(1); ++c)
      for (int64_t h = 0; h < x.size(2); ++h)
        for (int64_t v = 0; v < x.size(3); ++v) {
          dx.push_back(0);
          for (int64_t p = 0; p < rows; ++p)
            for (int64_t q = 0; q < columns; ++q) {
              const int64_t i = h + padding - p * stride, j = v + padding - q * stride;
              if (i < 0 || i >= weight.size(2) || j < 0 || j >= weight.size(3)) continue;
              for (int64_t o = 0; o < outputs; ++o)
                dx.back() += dy.at({n, o, p, q}) * weight.at({o, c, i, j});
            }
        }
  }
  return {isobar::tensor(x.shape(), dx), isobar::tensor(weight.shape(), dw), isobar::tensor({outputs}, db)};
}

namespace {

struct Statistics {
  Values mean, rstd;
};

// Of `groups` groups of the numbers of x, where number i belongs to group_of(i).
Statistics statistics(const Tensor& x, int64_t groups, double eps,
                      const std::function<int64_t(int64_t)>& group_of) {
  const double* const in = x.data<double>();
  const double count = static_cast<double>(x.numel()) / groups;
  if (count < 2) isobar::throw_error(fmt::format("one number in a group of {}", x.shape()));
  Statistics found{Values(groups), Values(groups)};
  for (int64_t i = 0; i < x.numel(); ++i) found.mean[group_of(i)] += in[i] / count;
  for (int64_t i = 0; i < x.numel(); ++i)
    found.rstd[group_of(i)] += std::pow(in[i] - found.mean[group_of(i)], 2);
  for (double& each : found.rstd) each = 1 / std::sqrt(each / count + eps);
  return found;
}

}  // namespace

BatchNorm batch_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const int64_t channels = x.size(1), places = x.size(2) * x.size(3);
  const auto channel = [&](int64_t i) { return i / places % channels; };
  const Statistics of = statistics(x, channels, eps, channel);
  Values y = x.to_vector<double>();
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t c = channel(i);
    y[i] = (y[i] - of.mean[c]) * of.rstd[c] * weight.at({c}) + bias.at({c});
  }
  return {isobar::tensor(x.shape(), y), isobar::tensor({channels}, of.mean),
          isobar::tensor({channels}, of.rstd)};
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  const int64_t channels = x.size(1), places = x.size(2) * x.size(3);
  const Statistics of = statistics(x, x.size(0) * channels, eps, [&](int64_t i) { return i / places; });
  Values y = x.to_vector<double>();
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t plane = i / places, c = plane % channels;
    y[i] = (y[i] - of.mean[plane]) * of.rstd[plane] * weight.at({c}) + bias.at({c});
  }
  return isobar::tensor(x.shape(), y);
}

NormGradients batch_norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                                  const BatchNorm& saved) {
  const int64_t channels = x.size(1), places = x.size(2) * x.size(3);
  const double count = static_cast<double>(x.numel()) / channels;
  Values dx = dy.to_vector<double>(), z = x.to_vector<double>(), dw(channels), db(channels);
  for (size_t i = 0; i < dx.size(); ++i) {
    const int64_t c = i / places % channels;
    z[i] = (z[i] - saved.mean.at({c})) * saved.rstd.at({c});
    dw[c] += dx[i] * z[i];
    db[c] += dx[i];
  }
  // z · dw and db are dz projected: it loses its part along z, and its mean.
  for (size_t i = 0; i < dx.size(); ++i) {
    const int64_t c = i / places % channels;
    dx[i] = (dx[i] * count - db[c] - z[i] * dw[c]) * (saved.rstd.at({c}) * weight.at({c}) / count);
  }
  return {isobar::tensor(x.shape(), dx), isobar::tensor({channels}, dw), isobar::tensor({channels}, db)};
}
