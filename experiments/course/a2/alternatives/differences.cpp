// sum_to one axis at a time, with another error; differences output by output.
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
