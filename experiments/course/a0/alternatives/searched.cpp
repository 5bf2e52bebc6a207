// Each element of the result by itself, without a loop over the inputs that adds to it.
#include <cmath>

#include "a0.h"

namespace {

double mean_of(const double* from, int64_t width) {
  double mean = 0;
  for (int64_t j = 0; j < width; ++j) mean += from[j] / width;
  return mean;
}

}  // namespace

Tensor moving_average(const Tensor& x, int64_t width) {
  Tensor y = isobar::zeros({x.numel() - width + 1}, Dtype::f64);
  for (int64_t i = 0; i < y.numel(); ++i) raw::write<double>(y)[i] = mean_of(x.data<double>() + i, width);
  return y;
}

Tensor scaled(const Tensor& x) {
  Tensor y = raw::clone(raw::cast(x, Dtype::f64));
  const auto magnitude = [&](int64_t i) { return std::fabs(y.data<double>()[i]); };
  int64_t largest = 0;
  for (int64_t i = 1; i < y.numel(); ++i)
    if (magnitude(i) > magnitude(largest)) largest = i;
  const double divisor = magnitude(largest);
  for (int64_t i = 0; divisor > 0 && i < y.numel(); ++i) raw::write<double>(y)[i] /= divisor;
  return y;
}

Tensor histogram(const Tensor& classes, int64_t count) {
  Tensor counts = isobar::full({count}, 0, Dtype::f64);
  for (int64_t c = 0; c < count; ++c)
    for (int64_t i = 0; i < classes.numel(); ++i)
      if (classes.data<double>()[i] == static_cast<double>(c)) raw::write<double>(counts)[c] += 1;
  return counts;
}
