// Statistics of a whole array, one number out of n, and variances of the rows of a matrix. Sums are in double, in
// reduce.h's fixed order.
#pragma once

#include <limits>

#include "reduce.h"
#include "squares.h"

namespace isobar::kernels {

template <class T>
Squares sum_of_squares(int64_t n, const T* x) {
  return squares(
      n, [](int64_t count, const auto& term) { return parallel_sum(count, term); },
      [x](int64_t i) { return x[i]; });
}

// Σ (x − y)²
template <class T>
Squares squared_distance(int64_t n, const T* x, const T* y) {
  return squares(
      n, [](int64_t count, const auto& term) { return parallel_sum(count, term); },
      [x, y](int64_t i) { return static_cast<double>(x[i]) - static_cast<double>(y[i]); });
}

// The mean of x, and Σ (x − mean)² in a second pass. The mean of nothing is NaN.
struct MeanAndSquares {
  double mean;
  Squares squares;
};
template <class T>
MeanAndSquares mean_and_squares(int64_t n, const T* x) {
  if (n == 0) return {std::numeric_limits<double>::quiet_NaN(), {0}};
  const double mean = parallel_sum(n, [x](int64_t i) { return x[i]; }) / static_cast<double>(n);
  return {mean, squares(
                    n, [](int64_t count, const auto& term) { return parallel_sum(count, term); },
                    [x, mean](int64_t i) { return static_cast<double>(x[i]) - mean; })};
}

// --- variances of the rows of x (R, C), R rows of C columns, and their gradient. All in double: far from zero,
//     the rounding error of a float mean exceeds the spread of the numbers
//
//   y[r] = Σ (x[r, c] − mean[r])² / divisor        dx[r, c] = dy[r] · 2 (x[r, c] − mean[r]) / divisor

// Sets y, to result(squares) of the Σ of each row, and mean, both (R).
template <class T, class Y, class Result>
void variance(int64_t rows, int64_t columns, const T* x, Y* y, double* mean, const Result& result) {
  const auto count = static_cast<double>(columns);
  for_rows(rows, columns, [&](int64_t r, const auto& sum) {
    const T* row = x + r * columns;
    const double m = mean[r] = sum(columns, [row](int64_t c) { return static_cast<double>(row[c]); }) / count;
    const auto off = [row, m](int64_t c) { return static_cast<double>(row[c]) - m; };
    // The mean's own rounding leaves Σ off different from 0 (Chan, Golub & LeVeque 1983, equation 1.7).
    const double rest = sum(columns, off);
    Squares all = squares(columns, sum, off);
    all.sum -= (rest * all.scale) * (rest * all.scale) / count;
    if (all.sum < 0) all.sum = 0;
    y[r] = static_cast<Y>(result(all));
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
