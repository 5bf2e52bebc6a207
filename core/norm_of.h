// The Frobenius norm √(Σ x²) of a tensor of any dtype, summed in double in a fixed order.
#pragma once

#include "tensor.h"

namespace isobar {

double norm_of(const Tensor& x);

}  // namespace isobar
