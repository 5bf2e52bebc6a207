// combine: f over two tensors that broadcast, not recorded. Not for users.
#pragma once

#include "../../core/kernels/map.h"
#include "../../core/raw.h"
#include "../ops.h"

namespace isobar {

// One operand as a tensor; a number in the dtype of the other one.
inline Tensor tensor_of(const char* op, const Operand& x, const Operand& other) {
  if (x.tensor != nullptr) return *x.tensor;
  check(other.tensor != nullptr, "{}: wanted a tensor and a number, got two numbers", op);
  return full({}, x.number, other.tensor->dtype());
}

inline void check_one_dtype(const char* op, const Tensor& a, const Tensor& b) {
  check(a.dtype() == b.dtype(), "{}: operands must have one dtype, got {} and {}; convert one with cast()",
        op, a.dtype(), b.dtype());
}

// f(a, b) for every pair of elements of type T, as elements of type Y.
template <class T, class Y, class F>
Tensor combine(const char* op, const Tensor& a, const Tensor& b, const F& f) {
  const bool alike = a.shape() == b.shape() && a.is_contiguous() && b.is_contiguous();
  const Shape shape = alike ? a.shape() : broadcast(op, a.shape(), b.shape());
  Tensor y(shape, dtype_of<Y>());
  if (alike)
    kernels::map_elements(y.numel(), raw::write<Y>(y), f, a.data<T>(), b.data<T>());
  else
    kernels::map_broadcast(shape, a.data<T>(), broadcast_strides(a.shape(), a.strides(), shape), b.data<T>(),
                           broadcast_strides(b.shape(), b.strides(), shape), raw::write<Y>(y), f);
  return y;
}

// The same for f32 or f64; the result has the operands' dtype.
template <class F>
Tensor combine_floats(const char* op, const Tensor& a, const Tensor& b, const F& f) {
  check_one_dtype(op, a, b);
  return dispatch_float(op, a.dtype(), [&]<class T>() { return combine<T, T>(op, a, b, f); });
}

// f(x) for every element of a float tensor; f takes a T.
template <class F>
Tensor map_elements(const char* op, const Tensor& x, const F& f) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  dispatch_float(op, x.dtype(),
                 [&]<class T>() { kernels::map_elements(x.numel(), raw::write<T>(y), f, packed.data<T>()); });
  return y;
}

}  // namespace isobar
