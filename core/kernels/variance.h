// Variances of the rows of x (R, C), R rows of C columns, and their gradient. All in double: far from zero,
// the rounding error of a float mean exceeds the spread of the numbers.
//
//   y[r] = Σ (x[r, c] − mean[r])² / divisor        dx[r, c] = dy[r] · 2 (x[r, c] − mean[r]) / divisor
#pragma once

#include "reduce.h"

namespace isobar::kernels {

// Sets y and mean, both (R).
template <class T, class Y>
void variance(int64_t rows, int64_t columns, const T* x, double divisor, Y* y, double* mean) {
  const auto count = static_cast<double>(columns);
  for_rows(rows, columns, [&](int64_t r, const auto& sum) {
    const T* row = x + r * columns;
    const double m = mean[r] = sum(columns, [row](int64_t c) { return static_cast<double>(row[c]); }) / count;
    const auto off = [row, m](int64_t c) { return static_cast<double>(row[c]) - m; };
    // The mean's own rounding leaves Σ off different from 0 (Chan, Golub & LeVeque 1983, equation 1.7).
    const double rest = sum(columns, off);
    const double squares = sum(columns, [off](int64_t c) { return off(c) * off(c); }) - rest * rest / count;
    y[r] = static_cast<Y>((squares < 0 ? 0 : squares) / divisor);
  });
}

// dy and mean are (R), dx is (R, C).
template <class T>
void variance_backward(int64_t rows, int64_t columns, const T* x, double divisor, const double* mean,
                       const T* dy, T* dx) {
  const int64_t n = rows * columns;
  parallel_for(n, reduce_grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end;) {
      const int64_t r = i / columns, stop = std::min(end, (r + 1) * columns);
      const double factor = 2 * static_cast<double>(dy[r]) / divisor;
      for (; i < stop; ++i) dx[i] = static_cast<T>(factor * (static_cast<double>(x[i]) - mean[r]));
    }
  });
}

}  // namespace isobar::kernels
