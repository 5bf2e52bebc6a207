// Statistics of a whole array, one number out of n. Sums are in double, in reduce.h's fixed order.
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

}  // namespace isobar::kernels
