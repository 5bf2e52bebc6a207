// Checks of arguments that several ops share. Not for users. All throw Error in the name of `op`.
#pragma once

#include "../../core/raw.h"

namespace isobar {

// Unless y, where it is defined, has the dtype of x.
inline void check_same_dtype(const char* op, const char* x_name, const Tensor& x, const char* y_name,
                             const Tensor& y) {
  check(!y.defined() || y.dtype() == x.dtype(), "{}: {} is {} but {} is {}; convert one with cast()", op,
        x_name, x.dtype(), y_name, y.defined() ? y.dtype() : x.dtype());
}

// Unless a parameter of an op on x, where it is defined, has this shape and the dtype of x.
inline void check_parameter(const char* op, const char* name, const Tensor& parameter, const Shape& shape,
                            const Tensor& x) {
  if (!parameter.defined()) return;
  check(parameter.shape() == shape, "{}: {} must be {} for x {}, got {}", op, name, shape, x.shape(),
        parameter.shape());
  check_same_dtype(op, "x", x, name, parameter);
}

inline void check_eps(const char* op, double eps) {
  check(eps >= 0, "{}: eps must not be negative, got {}", op, eps);
}

// The indices as contiguous i64, all in [0, extent); `indices` itself where possible. An op keeps them for its
// backward and lists them among the inputs of record(): backward throws where the caller has overwritten them.
inline Tensor checked_indices(const char* op, const Tensor& indices, int64_t extent) {
  check(
      is_integer(indices.dtype()),
      "{}: wanted integer indices (i32 or i64), got {}; make them so, tensor({{0, 2}}, Dtype::i64), or cast() "
      "them",
      op, indices.dtype());
  const Tensor result =
      raw::contiguous((indices.dtype() == Dtype::i64 ? indices : raw::cast(indices, Dtype::i64))).detach();
  const int64_t* index = result.data<int64_t>();
  for (int64_t j = 0; j < result.numel(); ++j)
    check(index[j] >= 0 && index[j] < extent, "{}: index {} at position {} is outside of [0, {})", op,
          index[j], j, extent);
  return result;
}

}  // namespace isobar
