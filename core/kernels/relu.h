// ReLU that keeps one bit for each element, its gate. Backward then reads 1/32 of the bytes of y, which
// matters because forward and backward are bound by memory.
//
// Bit i mod 64 of word i / 64 is set where element i passes, or is NaN.
#pragma once

#include <cassert>

#include "row.h"

namespace isobar::kernels {

inline constexpr int64_t gate_bits = 64;

inline int64_t gate_words(int64_t n) { return chunk_count(n, gate_bits); }

// The lanes of a comparison as bits, lane 0 lowest, and the inverse. xsimd 8 has neither.
template <class T>
uint64_t bits_of(const xsimd::batch_bool<T, Machine>& set) {
#if defined(__AVX512F__)
  return static_cast<uint64_t>(set.data);
#else
  bool each[width<T>];
  set.store_unaligned(each);
  uint64_t bits = 0;
  for (int64_t l = 0; l < width<T>; ++l) bits |= static_cast<uint64_t>(each[l]) << l;
  return bits;
#endif
}
template <class T>
xsimd::batch_bool<T, Machine> lanes_of(uint64_t bits) {
#if defined(__AVX512F__)
  using Bits = typename xsimd::batch_bool<T, Machine>::register_type;
  return xsimd::batch_bool<T, Machine>(static_cast<Bits>(bits));
#else
  bool each[width<T>];
  for (int64_t l = 0; l < width<T>; ++l) each[l] = bits >> l & 1;
  return xsimd::batch_bool<T, Machine>::load_unaligned(each);
#endif
}

// body(io, i) for the registers of n ≤ 64 elements, i the first of each.
template <class T, class Body>
void for_word(int64_t n, const Body& body) {
  int64_t i = 0;
  for (; i + width<T> <= n; i += width<T>) body(WholeRegister<T>{}, i);
  if (i < n) body(PartRegister<T>{n - i}, i);
}

// y = max(0, x) and its gate.
template <class T>
void relu(int64_t n, const T* x, T* y, int64_t* gate) {
  assert(valid_arrays(n, x, y, gate) && identical_or_disjoint(n, x, y));
  const Store how = store_for(n, width<T>, y, x);
  parallel_for(
      gate_words(n), map_grain / gate_bits, [=](int64_t begin, int64_t end) __attribute__((flatten)) {
        for (int64_t word = begin; word < end; ++word) {
          const int64_t first = word * gate_bits;
          uint64_t bits = 0;
          for_word<T>(std::min(gate_bits, n - first), [&](auto io, int64_t i) {
            fetch_ahead(x + first + i);
            const Register<T> v = io.load(x + first + i);
            const auto stop = v <= Register<T>(T{0});
            io.store(xsimd::select(stop, Register<T>(T{0}), v), y + first + i, how);
            bits |= bits_of<T>(!stop) << i;
          });
          gate[word] = static_cast<int64_t>(bits);
        }
        finish_stores(how);
      });
}

// dx = dy where the gate is open, else 0; dx may be dy.
template <class T>
void relu_backward(int64_t n, const int64_t* gate, const T* dy, T* dx) {
  assert(valid_arrays(n, gate, dy, dx) && identical_or_disjoint(n, dy, dx));
  const Store how = store_for(n, width<T>, dx, dy);
  parallel_for(
      gate_words(n), map_grain / gate_bits, [=](int64_t begin, int64_t end) __attribute__((flatten)) {
        for (int64_t word = begin; word < end; ++word) {
          const int64_t first = word * gate_bits;
          for_word<T>(std::min(gate_bits, n - first), [=](auto io, int64_t i) {
            fetch_ahead(dy + first + i);
            const auto pass = lanes_of<T>(static_cast<uint64_t>(gate[word]) >> i);
            io.store(xsimd::select(pass, io.load(dy + first + i), Register<T>(T{0})), dx + first + i, how);
          });
        }
        finish_stores(how);
      });
}

}  // namespace isobar::kernels
