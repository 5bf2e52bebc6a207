// The products of matmul and linear under WithPrecision(Precision::bf16), for f32 tensors that these ops have
// checked.
#pragma once

#include "../../core/tensor.h"

namespace isobar {

Tensor matmul_bf16(const Tensor& a, const Tensor& b);
Tensor linear_bf16(const Tensor& x, const Tensor& weight, const Tensor& bias);

// Whether products of this dtype are to run on bf16 operands.
bool bf16_products(Dtype dtype);

}  // namespace isobar
