// scale_of_tiny: for quotients dy / y whose y may be so small that they leave the range.
#pragma once

#include <cmath>

#include "../ops.h"

namespace isobar {

// Where y > 0 is near the smallest numbers of its dtype a power of two that brings it nearer to one, elsewhere 1; a
// constant. Undefined where no y is so small.
inline Tensor scale_of_tiny(const Tensor& y) {
  const int exponent = y.dtype() == Dtype::f32 ? 100 : 900;
  const Tensor values = y.detach(), tiny = values > 0 && values < std::ldexp(1.0, -exponent);
  if (any(tiny).item() == 0) return {};
  return where(tiny, std::ldexp(1.0, exponent), ones({}, y.dtype()));
}

}  // namespace isobar
