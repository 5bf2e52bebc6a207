// A layer, an activation, where weights start, and a loss.
//
// This file is given and stays as it is. Tensors hold doubles (Dtype::f64) and are contiguous; functions
// return new ones. N rows, K inputs, M outputs, V classes.
#pragma once

#include <isobar/core/rng.h>

#include "tensors.h"

using isobar::Rng;

// --- task 1: y = x Wᵀ + b
// x (N, K), weight (M, K), bias (M) or undefined for none. Throws isobar::Error naming x's and
// weight's shapes when they do not fit, or bias's.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);
struct LinearGradients {
  Tensor dx, dweight, dbias;
};
LinearGradients linear_backward(const Tensor& dy, const Tensor& x, const Tensor& weight);  // dbias always

// --- task 2: y = max(0, x), slope 0 at 0. A NaN stays a NaN.
Tensor relu(const Tensor& x);
Tensor relu_backward(const Tensor& dy, const Tensor& x);

// --- task 3: weights (out, in), element i made of draw i of the key: rng.uniform_at(i) in (0, 1),
// rng.normal_at(i).
Tensor xavier_uniform(int64_t out, int64_t in, const Rng& rng);  // U(±a), variance 2 / (in + out)
Tensor he_normal(int64_t out, int64_t in, const Rng& rng);       // variance 2 / in
Tensor torch_default(int64_t out, int64_t in, const Rng& rng);   // U(±1/√in)

// --- task 4: log_softmax over the last dimension of x (N, V); finite for any finite x
Tensor log_softmax(const Tensor& x);
Tensor log_softmax_backward(const Tensor& dy, const Tensor& y);  // y = log_softmax(x)

// --- task 5: the mean of −log_softmax(logits)[target] over the rows whose target is not `ignore`
// logits (N, V); targets (N), Dtype::i64. All ignored: loss NaN, gradient zeros. Throws isobar::Error, naming
// the target and V, for any other target outside [0, V).
double cross_entropy(const Tensor& logits, const Tensor& targets, int64_t ignore = -100);
Tensor cross_entropy_backward(const Tensor& logits, const Tensor& targets, int64_t ignore = -100);
