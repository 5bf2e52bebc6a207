// SwiGLU's gradient, both halves in one pass: y = silu(g) · u, silu(g) = g s with s = sigmoid(g).
#pragma once

#include <cassert>
#include <cstdint>

#include "row.h"

namespace isobar::kernels {

// dg = dy · u · s (1 + g (1 − s));  du = dy · g s. All of n elements; du may be dy.
template <class T>
void swiglu_backward(int64_t n, const T* g, const T* u, const T* dy, T* dg, T* du) {
  assert(given(n, g, u, dy, dg, du) && same_or_apart(n, dy, du) && (n == 0 || dg != dy));
  parallel_for(
      n, map_grain, [=](int64_t begin, int64_t end) __attribute__((flatten)) {
        for_registers<T>(end - begin, [=](auto io, int64_t i) {
          const Register<T> gate = io.load(g + begin + i), d = io.load(dy + begin + i), s = sigmoid(gate);
          io.store(d * io.load(u + begin + i) * s * (T(1) + gate * (T(1) - s)), dg + begin + i);
          io.store(d * gate * s, du + begin + i);
        });
      });
}

}  // namespace isobar::kernels
