// Elementwise loops on whole vector registers, for functions of functions.h: they are ten to twenty-five
// times faster than libm's.
//
//   map_registers(n, y, [](auto v) { return tanh(v); }, x);
//
// The function sees registers (Vec) only. The last, incomplete register is padded, so an element's
// bits do not depend on its position.
#pragma once

#include "functions.h"
#include "map.h"

namespace isobar::kernels {

// How a result is stored. A plain store fetches the line that it overwrites and leaves it in the caches. A
// streaming store does neither, which saves a third of its bytes: it is for results that would leave the
// caches before they are read. y must be aligned to a register.
enum class Store { plain, streaming };

// The store for a result y of n elements whose rows have `columns` elements. It is plain where y is one of
// the inputs x: their lines have just been read.
template <class T, class... Inputs>
Store store_for(int64_t n, int64_t columns, const T* y, const Inputs*... x) {
  constexpr int64_t streamed = int64_t{8} << 20;  // bytes: several second-level caches
  const bool aligned = reinterpret_cast<uintptr_t>(y) % register_bytes == 0 && columns % width<T> == 0;
  const bool apart = (... && (static_cast<const void*>(x) != y));
  return aligned && apart && n * static_cast<int64_t>(sizeof(T)) >= streamed ? Store::streaming
                                                                             : Store::plain;
}

template <class T>
void store(std::type_identity_t<Vec<T>> v, T* y, Store how) {
  if (how == Store::plain)
    store(v, y);
  else
    stream(v, y);
}

// Makes a chunk's streaming stores visible to other threads; belongs after its last store.
inline void finish_stores(Store how) {
  if (how == Store::streaming) finish_streams();
}

// How many bytes further on fetch_ahead() fetches. Most caches' own fetching ends with each page, and pauses while a
// row is read again. On AMD's Zen 4, where a kernel reads several arrays, it is faster without prefetches of ours: in
// its family, 19h, they are of the line that is read anyway. Tried on Cascade Lake, Zen 4 and Zen 5; Zen 3, which is of
// that family too, was not.
inline constexpr int64_t bytes_ahead = 8192;
inline int64_t several_ahead() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_is("amdfam19h")) return 0;
#endif
  return bytes_ahead;
}
inline const int64_t bytes_ahead_of_several = several_ahead();

// Prefetches the cache line so many bytes after each of these. A kernel calls it where it reads them first, so that
// memory is busy all the time.
template <class... T>
[[gnu::always_inline]] inline void fetch_ahead(const T*... x) {
  const int64_t distance = sizeof...(x) == 1 ? bytes_ahead : bytes_ahead_of_several;
  (..., __builtin_prefetch(reinterpret_cast<const char*>(x) + distance));
}

// y[i] = f(x[i]…) for any number of inputs, on the calling thread.
template <class T, class F, class... Inputs>
void map_registers_serial(int64_t n, T* y, const F& f, const Inputs*... x) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>) store(f(load(x + i)...), y + i);
  if (i < n) store_part<T>(f(load_part(x + i, n - i)...), y + i, n - i);
}

// The same for inputs that are read here first.
template <class T, class F, class... Inputs>
void map_registers_streaming(Store how, int64_t n, T* y, const F& f, const Inputs*... x) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>) {
    fetch_ahead((x + i)...);
    store<T>(f(load(x + i)...), y + i, how);
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

}  // namespace isobar::kernels
