// Elementwise loops on whole vector registers, for functions that need exp, tanh, erf or log: xsimd's are ten
// to twenty-five times faster than libm's and keep NaN.
//
//   map_registers(n, y, [](auto v) { return tanh(v); }, x);
//
// The function sees registers (xsimd::batch) only. The last, incomplete register is padded, so an element's
// bits do not depend on its position.
#pragma once

#include <bit>

#include "machine.h"
#include "map.h"

namespace isobar::kernels {

// Loads the first `count` < width elements at x, padded with zeros; and stores them.
template <class T>
Register<T> load_part(const T* x, int64_t count) {
  T padded[width<T>] = {};
  std::copy_n(x, count, padded);
  return Register<T>::load_unaligned(padded);
}
template <class T>
void store_part(const Register<T>& v, T* y, int64_t count) {
  T padded[width<T>];
  v.store_unaligned(padded);
  std::copy_n(padded, count, y);
}

// How a result is stored. A plain store fetches the line that it overwrites and leaves it in the caches. A
// streaming store does neither, which saves a third of its bytes: it is for results that would leave the
// caches before they are read. y must be aligned to a register.
enum class Store { plain, streaming };

// The store for a result y of n elements whose rows have `columns` elements. It is plain where y is one of
// the inputs x: their lines have just been read.
template <class T, class... Inputs>
Store store_for(int64_t n, int64_t columns, const T* y, const Inputs*... x) {
  constexpr int64_t streamed = int64_t{8} << 20;  // bytes: several second-level caches
  constexpr auto register_bytes = width<T> * static_cast<int64_t>(sizeof(T));
  const bool aligned = reinterpret_cast<uintptr_t>(y) % register_bytes == 0 && columns % width<T> == 0;
  const bool apart = (... && (static_cast<const void*>(x) != y));
  return aligned && apart && n * static_cast<int64_t>(sizeof(T)) >= streamed ? Store::streaming
                                                                             : Store::plain;
}

template <class T>
void store(const Register<T>& v, T* y, Store how) {
  if (how == Store::plain) return v.store_unaligned(y);
#if defined(__AVX512F__)
  _mm512_stream_si512(reinterpret_cast<__m512i*>(y), std::bit_cast<__m512i>(v.data));
#elif defined(__AVX__)
  _mm256_stream_si256(reinterpret_cast<__m256i*>(y), std::bit_cast<__m256i>(v.data));
#elif defined(__SSE2__)
  _mm_stream_si128(reinterpret_cast<__m128i*>(y), std::bit_cast<__m128i>(v.data));
#else
  v.store_unaligned(y);
#endif
}

// Makes a chunk's streaming stores visible to other threads; belongs after its last store.
inline void finish_stores([[maybe_unused]] Store how) {
#ifdef __SSE2__
  if (how == Store::streaming) _mm_sfence();
#endif
}

// Prefetches the cache line 8 KiB after x. A kernel calls it where it reads x first, so that memory is busy
// all the time; the caches' own prefetching ends with each page, and pauses while a row is read again.
template <class T>
void fetch_ahead(const T* x) {
  __builtin_prefetch(reinterpret_cast<const char*>(x) + 8192);
}

// y[i] = f(x[i]…) for any number of inputs, on the calling thread.
template <class T, class F, class... Inputs>
void map_registers_serial(int64_t n, T* y, const F& f, const Inputs*... x) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>) f(Register<T>::load_unaligned(x + i)...).store_unaligned(y + i);
  if (i < n) store_part(Register<T>(f(load_part(x + i, n - i)...)), y + i, n - i);
}

// The same for inputs that are read here first.
template <class T, class F, class... Inputs>
void map_registers_streaming(Store how, int64_t n, T* y, const F& f, const Inputs*... x) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>) {
    (..., fetch_ahead(x + i));
    store<T>(f(Register<T>::load_unaligned(x + i)...), y + i, how);
  }
  map_registers_serial(n - i, y + i, f, (x + i)...);
  finish_stores(how);
}

// The same on all threads.
template <class T, class F, class... Inputs>
void map_registers(int64_t n, T* y, const F& f, const Inputs*... x) {
  assert(valid_arrays(n, y, x...) && (... && identical_or_disjoint(n, x, y)));
  const Store how = store_for(n, width<T>, y, x...);
  parallel_for(n, map_grain, [=, &f](int64_t begin, int64_t end) {
    map_registers_streaming(how, end - begin, y + begin, f, (x + begin)...);
  });
}

// f(x) for xsimd's sin or cos. They take one of their formulas for a whole register, by its largest element,
// so that an element's bits would depend on its neighbours. Up to 20π the formulas agree; beyond it, elements
// of one formula are computed together.
template <class V, class F>
V by_size(const V& x, const F& f) {
  const V size = xsimd::abs(x);
  const auto small = size <= xsimd::constants::twentypi<V>(),
             medium = size <= xsimd::constants::mediumpi<V>();
  if (xsimd::all(small)) return f(x);
  const V up_to_medium =
      xsimd::select(small, f(xsimd::select(small, x, V(0))), f(xsimd::select(medium && !small, x, V(100))));
  if (xsimd::all(medium)) return up_to_medium;
  return xsimd::select(medium, up_to_medium, f(xsimd::select(medium, V(1e9), x)));
}

// An odd function of floats that tends to ±1: x P(x²) / Q(x²) up to |x| = `end`, where it rounds to ±1. All
// terms have one sign, so nothing cancels; NaN stays NaN.
template <int degree>
struct OddRational {
  float end;
  float p[degree + 1], q[degree + 1];  // rising powers of x²

  template <class V>
  V operator()(const V& x) const {
    const V z = x * x;
    V above(p[degree]), below(q[degree]);
    for (int i = degree - 1; i >= 0; --i) {
      above = xsimd::fma(above, z, V(p[i]));
      below = xsimd::fma(below, z, V(q[i]));
    }
    const V y = xsimd::select(xsimd::abs(x) < V(end), x * above / below, x);
    return xsimd::min(V(1), xsimd::max(V(-1), y));
  }
};

// tanh and erf of floats to a relative 5e-7, in a third of the time of xsimd's functions, which join two
// formulas. Doubles use xsimd's functions. The coefficients are the best in relative error (2.1e-8 and 2.5e-8
// before rounding); tests/fixtures/odd_rational.py computes them.
inline constexpr OddRational<4> tanh_fit{
    .end = 9,
    .p = {0.9999999796f, 0.1338097142f, 0.003495522884f, 2.060799111e-5f, 1.335314337e-8f},
    .q = {1, 0.4671428708f, 0.02587673597f, 0.0003285527167f, 7.775936949e-7f}};
inline constexpr OddRational<5> erf_fit{
    .end = 4,
    .p = {1.12837914f, 0.193530952f, 0.05309951295f, 0.003882628223f, 0.0002845320983f, 1.986669161e-6f},
    .q = {1, 0.5048449013f, 0.1153438344f, 0.01520584387f, 0.001185363647f, 3.741720757e-5f}};

template <class Arch>
xsimd::batch<float, Arch> tanh(const xsimd::batch<float, Arch>& x) {
  return tanh_fit(x);
}
template <class Arch>
xsimd::batch<double, Arch> tanh(const xsimd::batch<double, Arch>& x) {
  return xsimd::tanh(x);
}
template <class Arch>
xsimd::batch<float, Arch> erf(const xsimd::batch<float, Arch>& x) {
  return erf_fit(x);
}
template <class Arch>
xsimd::batch<double, Arch> erf(const xsimd::batch<double, Arch>& x) {
  return xsimd::erf(x);
}

}  // namespace isobar::kernels
