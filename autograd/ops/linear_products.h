// The factors and the three matrix products of y = x Wᵀ: x (N, K), W (M, K), y (N, M), all contiguous.
#pragma once

#include "../../core/bf16.h"
#include "../../core/raw.h"
#include "../recording.h"

namespace isobar {

// Whether products of this dtype are to run on bf16 operands.
inline bool bf16_products(Dtype dtype) {
  return dtype == Dtype::f32 && recording.precision == Precision::bf16;
}

// The numbers of a tensor in row-major order, as gemm multiplies them: its own, or rounded to bf16.
template <class Operand>
struct Factor {
  Tensor packed;
  explicit Factor(const Tensor& x) : packed(raw::contiguous(x)) {}
  const Operand* data() const { return packed.data<Operand>(); }
};
template <>
struct Factor<Bf16> : Bf16Copy {
  using Bf16Copy::Bf16Copy;
};

// T is the type of the sums, Operand that of the factors (blas.h).
template <class T, class Operand = T>
struct LinearProducts {
  int64_t n, k, m;

  // y = x Wᵀ
  Gemm<T, Operand> value(const Operand* x, const Operand* w, T* y) const {
    return {.m = n, .n = m, .k = k, .a = {x, k}, .b = {w, k, true}, .c = {y, m}};
  }
  // dx = dy · W
  Gemm<T, Operand> input_gradient(const Operand* dy, const Operand* w, T* dx) const {
    return {.m = n, .n = k, .k = m, .a = {dy, m}, .b = {w, k}, .c = {dx, k}};
  }
  // dW = dyᵀ · x
  Gemm<T, Operand> weight_gradient(const Operand* dy, const Operand* x, T* dw) const {
    return {.m = m, .n = k, .k = n, .a = {dy, m, true}, .b = {x, k}, .c = {dw, k}};
  }
};

}  // namespace isobar
