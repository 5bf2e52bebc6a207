// Sums over a whole array, in double, for statistics: one number out of n.
//
// A sum is split into chunks of fixed size, each chunk into eight lanes (element i goes to lane i mod 8), and
// both are combined in order. The bits depend on n alone, not on the number of threads, and the compiler can
// keep the lanes in one vector register.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "../parallel.h"
#include "../storage.h"

namespace isobar::kernels {

inline constexpr int64_t sum_grain = 1 << 15;  // elements in one chunk
inline constexpr int sum_lanes = 8;            // doubles in an AVX-512 register

// Σ f(i) over begin ≤ i < end, by one thread.
template <class F>
double sum_serial(int64_t begin, int64_t end, const F& f) {
  std::array<double, sum_lanes> lanes{};
  int64_t i = begin;
  for (; i + sum_lanes <= end; i += sum_lanes)
    for (int lane = 0; lane < sum_lanes; ++lane) lanes[lane] += f(i + lane);
  for (int lane = 0; i < end; ++i, ++lane) lanes[lane] += f(i);
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

// Σ f(i) over 0 ≤ i < n.
template <class F>
double sum_of(int64_t n, const F& f) {
  const int64_t chunks = chunk_count(n, sum_grain);
  const Storage scratch(chunks * sizeof(double));
  auto* const partial = static_cast<double*>(scratch.data);
  parallel_for(n, sum_grain,
               [&](int64_t begin, int64_t end) { partial[begin / sum_grain] = sum_serial(begin, end, f); });
  double sum = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk];
  return sum;
}

// x² as a double.
template <class T>
double squared(T x) {
  return static_cast<double>(x) * static_cast<double>(x);
}

template <class T>
double sum_of_squares(int64_t n, const T* x) {
  return sum_of(n, [x](int64_t i) { return squared(x[i]); });
}

// Σ (x − y)²
template <class T>
double squared_distance(int64_t n, const T* x, const T* y) {
  return sum_of(n, [x, y](int64_t i) {
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
  const double mean =
      sum_of(n, [x](int64_t i) { return static_cast<double>(x[i]); }) / static_cast<double>(n);
  const double squares = sum_of(n, [x, mean](int64_t i) {
    const double d = static_cast<double>(x[i]) - mean;
    return d * d;
  });
  return {mean, squares};
}

}  // namespace isobar::kernels
