// Shared by the two cross-entropies: their targets, and the scaling of gradients that forward computed.
#pragma once

#include "../../core/kernels/vmath.h"
#include "../../core/raw.h"

namespace isobar {

// Targets as i64 with −1 where ignored, and how many count. Throws Error in the name of `op`.
struct ClassTargets {
  Tensor index;
  int64_t counted = 0;

  ClassTargets(const char* op, const Tensor& targets, int64_t classes, int64_t ignore_index) {
    check(is_integer(targets.dtype()), "{}: targets must be class indices (i32 or i64), got {}", op,
          targets.dtype());
    index = raw::cast(targets, Dtype::i64);
    int64_t* target = raw::write<int64_t>(index);
    for (int64_t r = 0; r < index.numel(); ++r) {
      if (target[r] == ignore_index) {
        target[r] = -1;
        continue;
      }
      check(target[r] >= 0 && target[r] < classes,
            "{}: target {} at position {} is outside of [0, {}) and is not ignore_index {}", op, target[r], r,
            classes, ignore_index);
      ++counted;
    }
  }
};

// x ← factor · x in place; x must be contiguous.
inline void multiply_in_place(Tensor& x, double factor) {
  if (factor == 1) return;
  dispatch_float("multiply_in_place", x.dtype(), [&]<class T>() {
    T* values = raw::write<T>(x);
    kernels::map_registers(x.numel(), values, values, [s = static_cast<T>(factor)](auto v) { return v * s; });
  });
}

}  // namespace isobar
