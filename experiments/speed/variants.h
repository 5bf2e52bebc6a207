// The norms that norm_speed times: fused ones, and the same spelled out in ops, as a reader would write them.
//
// `passes` counts how often an array of x's size is read or written: the least for a fused kernel (it finds a
// row in the cache when it comes back to it), every op's operands and result where the norm is spelled out.
#pragma once

#include "../harness/run.h"

namespace isobar::speed {

// Of every variant, trainable; each uses what it needs. weight and bias are (C), the others [1]. And
// BatchNorm's statistics after training, (C).
struct Weights {
  Tensor weight, bias, alpha, log_c;
  Tensor kept_mean, kept_variance;

  explicit Weights(int64_t columns);
  void clear_grad() const;
};

// What a fused forward kernel (core/kernels/norm.h, pointwise.h) computes for each element and for each row,
// and what it keeps for backward.
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

Tensor layer_norm_var(const Tensor& x, const Weights& w);
Tensor layer_norm_squares(const Tensor& x, const Weights& w);
Tensor rms_norm_spelled(const Tensor& x, const Weights& w);
Tensor layer_norm_script(const Tensor& x, const Weights& w);
Tensor rms_norm_script(const Tensor& x, const Weights& w);
Tensor batch_norm_squares(const Tensor& x, const Weights& w);
Tensor batch_norm_kept(const Tensor& x, const Weights& w);
Tensor dyt_spelled(const Tensor& x, const Weights& w);

extern const std::array<Variant, 13> variants;
const Variant& variant_named(const std::string& name);

// --- Work: what one forward of a variant computes and moves, counted and not timed.
//
// Every operation counts as one flop for each element of its result, also a division, a root or a tanh; a sum
// counts one for each element that it adds, and var() four for each of its input. Every op of a spelled-out
// norm reads its operands from memory and writes its result. A fused norm is one op: its flops are counted in
// its kernel (variants.cpp), as performed.

struct Work {
  double flops, bytes;  // in all
  int reductions, ops;  // sums over rows as ops of their own; ops
};

// From the tape of one forward in f32, x (N, C).
Work work_of(const Variant& variant, const Tensor& x, const Weights& weights);

// For x (1000, 512) keys "reductions.<variant>" and "ops.<variant>" of the spelled-out norms, and per element
// of x, for all, "flops.<variant>" and "bytes.<variant>" (theory: 4 bytes a pass; rows and weights add 1 %),
// and the quotients "flops.layernorm_squares_over_{batchnorm, batchnorm_inference}". Expects the stated
// reductions, and that spelled-out and fused norms agree.
void check_variants(Run& run);

}  // namespace isobar::speed
