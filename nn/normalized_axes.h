// normalized_axes: the last dimensions of x, for norms that are composed of ops.
#pragma once

#include <numeric>

#include "../autograd/ops.h"

namespace isobar {

// The dimensions of x (…, normalized_shape) that normalized_shape stands for: {-2, -1} for two. Throws Error
// unless they are the last ones of x: the ops below would broadcast another shape.
inline std::vector<int> normalized_axes(const char* op, const Tensor& x, const Shape& normalized_shape) {
  const int count = normalized_shape.ndim();
  check(count >= 1 && x.ndim() >= count && x.shape().last(count) == normalized_shape,
        "{}: normalized_shape {} must be the last dimensions of x {}", op, normalized_shape, x.shape());
  std::vector<int> axes(static_cast<size_t>(count));
  std::iota(axes.begin(), axes.end(), -count);
  return axes;
}

}  // namespace isobar
