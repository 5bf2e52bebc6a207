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
            const Vec<T> v = io.load(x + first + i);
            const auto stop = v <= Vec<T>{};
            io.store(select(stop, Vec<T>{}, v), y + first + i, how);
            bits |= lane_bits(~stop) << i;
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
            io.store(select(pass, io.load(dy + first + i), Vec<T>{}), dx + first + i, how);
          });
        }
        finish_stores(how);
      });
}

}  // namespace isobar::kernels
