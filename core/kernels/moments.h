// Statistics of a whole array, one number out of n, and variances of the rows of a matrix. Sums are in double, in
// reduce.h's fixed order.
#pragma once

#include <limits>

#include "reduce.h"

namespace isobar::kernels {

// x² as a double.
template <class T>
double squared(T x) {
  return static_cast<double>(x) * static_cast<double>(x);
}

template <class T>
double sum_of_squares(int64_t n, const T* x) {
  return parallel_sum(n, [x](int64_t i) { return squared(x[i]); });
}

// Σ (x − y)²
template <class T>
double squared_distance(int64_t n, const T* x, const T* y) {
  return parallel_sum(n, [x, y](int64_t i) {
    const double d = static_cast<double>(x[i]) - static_cast<double>(y[i]);
    return d * d;
  });
}

// The mean of x, and Σ (x − mean)² in a second pass. The mean of nothing is NaN.
struct MeanAndSquares {
  double mean, squares;
};
template <class T>
MeanAndSquares mean_and_squares(int64_t n, const T* x) {
  if (n == 0) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const double mean = parallel_sum(n, [x](int64_t i) { return x[i]; }) / static_cast<double>(n);
  const double squares = parallel_sum(n, [x, mean](int64_t i) {
    const double d = static_cast<double>(x[i]) - mean;
    return d * d;
  });
  return {mean, squares};
}

// --- variances of the rows of x (R, C), R rows of C columns, and their gradient. All in double: far from zero,
//     the rounding error of a float mean exceeds the spread of the numbers
//
//   y[r] = Σ (x[r, c] − mean[r])² / divisor        dx[r, c] = dy[r] · 2 (x[r, c] − mean[r]) / divisor

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
