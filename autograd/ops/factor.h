// The factors of linear's products, and whether they are rounded to bf16. Not for users.
#pragma once

#include "../../core/bf16.h"
#include "../../core/raw.h"
#include "../recording.h"

namespace isobar {

// Whether products of this dtype are to run on bf16 operands.
inline bool bf16_products(Dtype dtype) {
  return dtype == Dtype::f32 && recording.precision == Precision::bf16;
}

// A tensor seen as a matrix of its last dimension, as gemm multiplies it: its own numbers, or rounded to bf16.
template <class Operand>
struct Factor {
  static constexpr bool rounded = std::is_same_v<Operand, Bf16>;
  std::conditional_t<rounded, Bf16Copy, Tensor> numbers;
  int64_t columns;

  explicit Factor(const Tensor& x) : numbers(raw::contiguous(x)), columns(x.size(-1)) {}
  // From row `begin` on.
  Strided<const Operand> rows(int64_t begin = 0) const {
    if constexpr (rounded)
      return {numbers.data() + begin * columns, columns};
    else
      return {numbers.template data<Operand>() + begin * columns, columns};
  }
};

}  // namespace isobar
