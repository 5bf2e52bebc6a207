// Ops with their gradients, and the check that tells whether a gradient is right.
//
// This file is given and stays as it is. Tensors hold doubles (Dtype::f64) and are contiguous; functions
// return new ones. dy is the gradient of a loss by an op's output, da, db, dx those by its inputs, each of
// its input's shape.
#pragma once

#include <functional>
#include <vector>

#include "tensors.h"

using isobar::Strides;

// Given: x read as if it had this shape, as NumPy broadcasts: aligned at the last dimension, extents of one
// repeated.
inline Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  return raw::clone(raw::as_strided(x, shape, isobar::broadcast_strides(x.shape(), x.strides(), shape)));
}

// --- task 1
// The adjoint of broadcast_to: x's elements summed over what was repeated, in this shape. Throws
// isobar::Error naming both shapes when `shape` does not broadcast to x's.
Tensor sum_to(const Tensor& x, const Shape& shape);

// --- task 2: gradients of two operands that broadcast to dy's shape
struct Two {
  Tensor da, db;
};
Two multiply_backward(const Tensor& dy, const Tensor& a, const Tensor& b);  // y = a · b
Two divide_backward(const Tensor& dy, const Tensor& a, const Tensor& b);    // y = a / b

// --- task 3: a (M, K), b (K, N)
// Throws isobar::Error naming both shapes when they do not fit.
Tensor matmul(const Tensor& a, const Tensor& b);
Two matmul_backward(const Tensor& dy, const Tensor& a, const Tensor& b);

// --- task 4: over the last dimension
Tensor softmax(const Tensor& x);                             // stays finite for any finite x
Tensor softmax_backward(const Tensor& dy, const Tensor& y);  // y = softmax(x)
// y = max of each row, (…) for x (…, C). Elements that tie for the maximum share dy in equal parts.
Tensor max_backward(const Tensor& dy, const Tensor& x);

// --- task 5
using Function = std::function<Tensor(const Tensor&)>;
// d Σ dy · f(x) / d x by central differences: (F(x + h eᵢ) − F(x − h eᵢ)) / 2h. x keeps its values.
Tensor numeric_gradient(const Function& f, const Tensor& x, const Tensor& dy, double h);
// The largest |aᵢ − nᵢ| / max(|aᵢ|, |nᵢ|, 10⁻³ maxⱼ|nⱼ|); 0 / 0 counts as 0. Infinity when an a or n is not
// finite.
double gradient_error(const Tensor& analytic, const Tensor& numeric);
