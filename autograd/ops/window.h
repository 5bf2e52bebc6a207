// Writes into a window of a larger array, for concat and pad. Not recorded; not for users.
#pragma once

#include <algorithm>
#include <array>

#include "../../core/raw.h"

namespace isobar {

// Copies `from` to the window of `to` that starts at begin[d] along each dimension d, in which it must lie.
inline void write_window(Tensor& to, const std::array<int64_t, max_dims>& begin, const Tensor& from) {
  if (from.numel() == 0) return;
  const Tensor packed = raw::contiguous(from);
  const Strides strides = to.shape().strides();
  // Dimensions from `last` on form one block in both.
  int last = to.ndim();
  while (last > 0 && to.size(last - 1) == packed.size(last - 1)) --last;
  last = std::max(last - 1, 0);
  int64_t block = 1, start = 0;
  for (int d = 0; d < to.ndim(); ++d) {
    start += begin[d] * strides[d];
    if (d >= last) block *= packed.size(d);
  }
  dispatch_any(to.dtype(), [&]<class T>() {
    const T* const x = packed.data<T>();
    T* const y = raw::write<T>(to) + start;
    for (int64_t i = 0; i < packed.numel() / block; ++i)
      std::copy_n(x + i * block, block, y + offset_at(i, packed.shape(), strides, last));
  });
}

}  // namespace isobar
