// The norms that norm_speed times: fused ones, and the same spelled out in ops, as a reader would write them.
//
// `passes` counts how often an array of x's size is read or written: the least for a fused kernel (it finds a
// row in the cache when it comes back to it), every op's operands and result where the norm is spelled out.
#pragma once

#include "../../run/run.h"

namespace isobar::speed {

// Of every variant, trainable: weight and bias (C), the others [1]. And BatchNorm's kept statistics, (C).
struct Weights {
  Tensor weight, bias, alpha, log_c;
  Tensor kept_mean, kept_variance;

  explicit Weights(int64_t columns);
  void clear_grad() const;
};

// What a fused forward kernel (core/kernels/) computes for each element and row, and keeps for backward.
struct Kernel {
  int flops = 0, flops_of_row = 0, bytes_of_row = 0;
};

struct Variant {
  const char* name;
  Tensor (*norm)(const Tensor& x, const Weights& w);  // over the last dimension of x (N, C)
  int forward_passes, backward_passes;
  int reductions;  // sums over each row
  Kernel kernel = {};

  bool spelled_out() const { return kernel.flops == 0; }
};

constexpr double eps = 1e-5;

extern const std::array<Variant, 13> variants;
const Variant& variant_named(const std::string& name);

// --- Work: what one forward of a variant computes and moves, counted and not timed.
//
// Every operation is one flop for each element of its result; a sum counts one for each element that it adds,
// var() four for each of its input. Every op of a spelled-out norm reads its operands from memory and writes
// its result. A fused norm is one op: variants.cpp counts its kernel's flops.

struct Work {
  double flops, bytes;  // in all
  int reductions, ops;  // sums over rows as ops of their own; ops
};

// From the tape of one forward in f32, x (N, C).
Work work_of(const Variant& variant, const Tensor& x, const Weights& weights);

// Measures, for x (1000, 512), reductions and ops of the spelled-out norms, and flops and bytes per element of
// x of all (theory: 4 bytes a pass; rows and weights add 1 %). Expects reductions and results.
void check_variants(Run& run);

}  // namespace isobar::speed
