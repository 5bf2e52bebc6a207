// Small tensors that tests are made of.
#pragma once

#include "../autograd/ops.h"

namespace isobar {

using Doubles = std::vector<double>;

// Tensors of these extents. f32, f64 and weights are ones, indices zeros.
inline Tensor f32(auto... extents) { return ones(Shape{int64_t{extents}...}); }
inline Tensor f64(auto... extents) { return ones(Shape{int64_t{extents}...}, Dtype::f64); }
inline Tensor i64(auto... extents) { return zeros(Shape{int64_t{extents}...}, Dtype::i64); }
inline Tensor weight(auto... extents) { return f32(extents...).set_trainable(); }

// A trainable tensor of the same numbers.
inline Tensor leaf(const Tensor& x) { return x.detach().set_trainable(); }

// These numbers.
inline Tensor number(double value) { return full({}, value, Dtype::f64); }
inline Tensor row(const Doubles& values, Dtype dtype = Dtype::f64) {
  return cast(tensor(Shape{std::ssize(values)}, values), dtype);
}
inline Tensor integers(auto... values) {
  return tensor(Shape{int64_t{sizeof...(values)}}, std::vector<int64_t>{int64_t{values}...});
}
inline Tensor integers(const Shape& shape, const std::vector<int64_t>& values) {
  return tensor(shape, values);
}

// 0, 1, 2, … in this shape.
inline Tensor counted(const Shape& shape) { return reshape(arange(shape.numel(), Dtype::f64), shape); }

}  // namespace isobar
