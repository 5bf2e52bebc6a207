// Elementwise loops on whole vector registers, for functions that need exp, tanh, erf or log: xsimd's are ten
// to twenty-five times faster than libm's and keep NaN.
//
//   vmap(n, x, y, [](auto v) { return xsimd::tanh(v); });
//
// The function sees registers (xsimd::batch) only. The last, incomplete register is padded, so an element's
// bits never depend on where it stands.
#pragma once

#include <algorithm>
#include <cstdint>

#pragma GCC diagnostic push
// g++ 12 finds its own AVX-512 intrinsics uninitialized (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__  // knows no such warning
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <xsimd/xsimd.hpp>
#pragma GCC diagnostic pop

#include "../parallel.h"
#include "map.h"

namespace isobar::kernels {

template <class T>
using Batch = xsimd::batch<T>;

template <class T>
inline constexpr int64_t width = static_cast<int64_t>(Batch<T>::size);

// The first `count` < width elements at x, padded with zeros; and the way back.
template <class T>
Batch<T> load_part(const T* x, int64_t count) {
  T padded[width<T>] = {};
  std::copy_n(x, count, padded);
  return Batch<T>::load_unaligned(padded);
}
template <class T>
void store_part(const Batch<T>& v, T* y, int64_t count) {
  T padded[width<T>];
  v.store_unaligned(padded);
  std::copy_n(padded, count, y);
}

// One thread: y[i] = f(x[i]…) for any number of inputs.
template <class T, class F, class... Inputs>
void vmap_serial(int64_t n, T* y, const F& f, const Inputs*... x) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>) f(Batch<T>::load_unaligned(x + i)...).store_unaligned(y + i);
  if (i < n) store_part(Batch<T>(f(load_part(x + i, n - i)...)), y + i, n - i);
}

// y[i] = f(x[i])
template <class T, class F>
void vmap(int64_t n, const T* x, T* y, const F& f) {
  parallel_for(n, map_grain,
               [=, &f](int64_t begin, int64_t end) { vmap_serial(end - begin, y + begin, f, x + begin); });
}

// y[i] = f(a[i], b[i])
template <class T, class F>
void vmap(int64_t n, const T* a, const T* b, T* y, const F& f) {
  parallel_for(n, map_grain, [=, &f](int64_t begin, int64_t end) {
    vmap_serial(end - begin, y + begin, f, a + begin, b + begin);
  });
}

// 1 / (1 + e^−x), for registers.
template <class V>
V sigmoid(const V& x) {
  return V(1) / (V(1) + xsimd::exp(-x));
}

}  // namespace isobar::kernels
