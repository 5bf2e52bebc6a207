// Shared by the ops that select or add by index. Not for users.
//
// An op keeps the checked indices for its backward and lists them among the inputs of record(): backward
// throws where the caller has overwritten them.
#pragma once

#include "../../core/raw.h"

namespace isobar {

// The indices as contiguous i64, all in [0, extent); `indices` itself where possible. Throws Error
// in the name of `op`.
inline Tensor checked_indices(const char* op, const Tensor& indices, int64_t extent) {
  check(is_integer(indices.dtype()), "{}: wanted integer indices (i32 or i64), got {}", op, indices.dtype());
  const Tensor result =
      raw::contiguous((indices.dtype() == Dtype::i64 ? indices : raw::cast(indices, Dtype::i64))).detach();
  const int64_t* index = result.data<int64_t>();
  for (int64_t j = 0; j < result.numel(); ++j)
    check(index[j] >= 0 && index[j] < extent, "{}: index {} at position {} is outside of [0, {})", op,
          index[j], j, extent);
  return result;
}

}  // namespace isobar
