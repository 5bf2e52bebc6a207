// Elementwise loops over contiguous arrays. n is the number of elements.
#pragma once

#include <cmath>
#include <cstdint>

#include "../parallel.h"

namespace isobar::kernels {

inline constexpr int64_t map_grain = 1 << 14;  // elements in one chunk: 64 KiB of floats

// y[i] = f(x[i])
template <class T, class F>
void map(int64_t n, const T* x, T* y, const F& f) {
  parallel_for(n, map_grain, [=, &f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]);
  });
}

// y[i] = f(a[i], b[i])
template <class T, class F>
void map(int64_t n, const T* a, const T* b, T* y, const F& f) {
  parallel_for(n, map_grain, [=, &f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f(a[i], b[i]);
  });
}

// y[i] += x[i]
template <class T>
void add_into(int64_t n, const T* x, T* y) {
  map(n, x, y, y, [](T a, T b) { return a + b; });
}

// Whether no element is NaN or infinite.
template <class T>
bool all_finite(int64_t n, const T* x) {
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(x[i])) return false;
  return true;
}

}  // namespace isobar::kernels
