#include "a0.h"

#include <algorithm>
#include <cmath>

// Task 1.
Tensor moving_average(const Tensor& x, int64_t width) {
  Tensor y({x.numel() - width + 1}, Dtype::f64);
  const double* const in = x.data<double>();
  double* const out = raw::write<double>(y);
  // solution {
  const int64_t last = y.numel() - 1;
  // instead {
  // const int64_t last = x.numel() - width + 1;
  // }
  for (int64_t i = 0; i <= last; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < width; ++j) sum += in[i + j];
    out[i] = sum / width;
  }
  return y;
}

// Task 2.
Tensor scaled(const Tensor& x) {
  // solution {
  const Tensor values = raw::cast(x, Dtype::f64);
  const double* const in = values.data<double>();
  // instead {
  // const double* const in = raw::cast(x, Dtype::f64).data<double>();
  // }
  Tensor y(x.shape(), Dtype::f64);
  double* const out = raw::write<double>(y);
  double largest = 0;
  for (int64_t i = 0; i < x.numel(); ++i) largest = std::max(largest, std::abs(in[i]));
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = largest > 0 ? in[i] / largest : 0;
  return y;
}

// Task 3.
Tensor histogram(const Tensor& classes, int64_t count) {
  // solution {
  Tensor counts = isobar::zeros({count}, Dtype::f64);
  // instead {
  // Tensor counts({count}, Dtype::f64);
  // }
  double* const out = raw::write<double>(counts);
  for (int64_t i = 0; i < classes.numel(); ++i) out[static_cast<int64_t>(classes.data<double>()[i])] += 1;
  return counts;
}
