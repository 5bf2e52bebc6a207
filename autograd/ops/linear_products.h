// The three matrix products of y = x Wᵀ: x (N, K), W (M, K), y (N, M), all contiguous.
#pragma once

#include "../../core/blas.h"

namespace isobar {

// T is the type of the sums, Operand that of the factors (blas.h).
template <class T, class Operand = T>
struct LinearProducts {
  int64_t n, k, m;

  // y = x Wᵀ
  Gemm<T, Operand> value(const Operand* x, const Operand* w, T* y) const {
    return {
        .transpose_b = true, .m = n, .n = m, .k = k, .a = x, .lda = k, .b = w, .ldb = k, .c = y, .ldc = m};
  }
  // dx = dy · W
  Gemm<T, Operand> input_gradient(const Operand* dy, const Operand* w, T* dx) const {
    return {.m = n, .n = k, .k = m, .a = dy, .lda = m, .b = w, .ldb = k, .c = dx, .ldc = k};
  }
  // dW = dyᵀ · x
  Gemm<T, Operand> weight_gradient(const Operand* dy, const Operand* x, T* dw) const {
    return {
        .transpose_a = true, .m = m, .n = k, .k = n, .a = dy, .lda = m, .b = x, .ldb = k, .c = dw, .ldc = k};
  }
};

}  // namespace isobar
