// Elementwise loops on tensors for the files of ops/, not recorded. Not for users.
#pragma once

#include "../../core/kernels/vmath.h"
#include "../tape.h"

namespace isobar {

// f(x) for every element; f sees vector registers.
template <class F>
Tensor map(const char* op, const Tensor& x, const F& f) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  dispatch_float(op, x.dtype(), [&]<class T>() {
    kernels::map_registers(x.numel(), raw::write<T>(y), f, packed.data<T>());
  });
  return y;
}

// f(a, b) for every pair of elements of two tensors of one shape and dtype.
template <class F>
Tensor map(const char* op, const Tensor& a, const Tensor& b, const F& f) {
  const Tensor pa = raw::contiguous(a), pb = raw::contiguous(b);
  Tensor y(a.shape(), a.dtype());
  dispatch_float(op, a.dtype(), [&]<class T>() {
    kernels::map_registers(a.numel(), raw::write<T>(y), f, pa.data<T>(), pb.data<T>());
  });
  return y;
}

// f(dy, x) for every pair of elements, written over dy where it has no other owner.
template <class F>
Tensor map_gradient(const char* op, Tensor upstream, const Tensor& x, const F& f) {
  const Tensor dy = raw::contiguous(std::move(upstream)), px = raw::contiguous(x);
  Tensor dx = room_for_gradient(dy);
  dispatch_float(op, x.dtype(), [&]<class T>() {
    kernels::map_registers(x.numel(), raw::write<T>(dx), f, dy.data<T>(), px.data<T>());
  });
  return dx;
}

}  // namespace isobar
