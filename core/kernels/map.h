// Elementwise loops: over contiguous arrays, and over two operands that broadcast. n is a number of elements.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>

#include "../parallel.h"
#include "../shape.h"

namespace isobar::kernels {

inline constexpr int64_t map_grain = 1 << 14;  // elements in one chunk: 64 KiB of floats

// For assert: n is not negative, and no array is null unless n is 0.
template <class... Arrays>
bool valid_arrays(int64_t n, const Arrays*... arrays) {
  return n == 0 || (n > 0 && (... && (arrays != nullptr)));
}
// Whether y is x itself or shares no element with it; both of n elements.
template <class X, class Y>
bool identical_or_disjoint(int64_t n, const X* x, const Y* y) {
  const auto a = reinterpret_cast<uintptr_t>(x), b = reinterpret_cast<uintptr_t>(y);
  return a == b || a + n * sizeof(X) <= b || b + n * sizeof(Y) <= a;
}

// y[i] = f(x[i]…) for any number of inputs
template <class Y, class F, class... T>
void map_elements(int64_t n, Y* y, const F& f, const T*... x) {
  assert(valid_arrays(n, y, x...) && (... && identical_or_disjoint(n, x, y)));
  parallel_for(n, map_grain, [=, &f](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = f(x[i]...);
  });
}

// y[i] += x[i]
template <class T>
void add_into(int64_t n, const T* x, T* y) {
  map_elements(
      n, y, [](T a, T b) { return a + b; }, x, y);
}

// Whether no element is NaN or infinite.
template <class T>
bool all_finite(int64_t n, const T* x) {
  for (int64_t i = 0; i < n; ++i)
    if (!std::isfinite(x[i])) return false;
  return true;
}

// A shape with the strides of two operands. Neighbouring dimensions are merged where both operands allow it:
// equal shapes become one dimension, a matrix plus a row becomes two.
struct BroadcastLayout {
  int ndim = 0;
  int64_t extent[max_dims], a[max_dims], b[max_dims];

  BroadcastLayout(const Shape& shape, const Strides& stride_a, const Strides& stride_b) {
    for (int d = 0; d < shape.ndim(); ++d) {
      const int64_t e = shape[d];
      if (e == 1) continue;
      if (ndim > 0 && a[ndim - 1] == stride_a[d] * e && b[ndim - 1] == stride_b[d] * e) {
        extent[ndim - 1] *= e;
      } else {
        extent[ndim++] = e;
      }
      a[ndim - 1] = stride_a[d];
      b[ndim - 1] = stride_b[d];
    }
    if (ndim == 0) {
      extent[0] = a[0] = b[0] = 1;
      ndim = 1;
    }
  }
};

// y = f(a, b) where y is contiguous of this shape and the operands are read with broadcasting strides.
template <class T, class Y, class F>
void map_broadcast(const Shape& shape, const T* a, const Strides& stride_a, const T* b,
                   const Strides& stride_b, Y* y, const F& f) {
  const int64_t n = shape.numel();
  if (n == 0) return;
  assert(valid_arrays(n, a, b, y));
  const BroadcastLayout pair(shape, stride_a, stride_b);
  const int last = pair.ndim - 1;
  const int64_t inner = pair.extent[last], da = pair.a[last], db = pair.b[last];
  // Threads share a long row too: in chunks of it.
  const int64_t chunks = chunk_count(inner, map_grain);
  parallel_each(n / inner * chunks, grain_of_rows(inner, map_grain), [&](int64_t chunk) {
    const int64_t row = chunk / chunks, start = chunk % chunks * map_grain;
    const int64_t count = std::min(map_grain, inner - start);
    int64_t rest = row, offset_a = start * da, offset_b = start * db;
    for (int d = last - 1; d >= 0; --d) {
      offset_a += rest % pair.extent[d] * pair.a[d];
      offset_b += rest % pair.extent[d] * pair.b[d];
      rest /= pair.extent[d];
    }
    const T* ra = a + offset_a;
    const T* rb = b + offset_b;
    Y* ry = y + row * inner + start;
    if (da == 1 && db == 1)
      for (int64_t i = 0; i < count; ++i) ry[i] = f(ra[i], rb[i]);
    else if (da == 1 && db == 0)
      for (int64_t i = 0; i < count; ++i) ry[i] = f(ra[i], *rb);
    else if (da == 0 && db == 1)
      for (int64_t i = 0; i < count; ++i) ry[i] = f(*ra, rb[i]);
    else
      for (int64_t i = 0; i < count; ++i) ry[i] = f(ra[i * da], rb[i * db]);
  });
}

}  // namespace isobar::kernels
