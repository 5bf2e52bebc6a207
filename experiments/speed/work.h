// Work: what one forward of a variant computes and moves, counted and not timed.
//
// Every operation counts as one flop for each element of its result, also a division, a root or a tanh; a sum
// counts one for each element that it adds, and var() four for each of its input. Every op of a spelled-out norm reads its operands from memory and
// writes its result. A fused norm is one op: its flops are counted in its kernel (variants.cpp), as performed.
#pragma once

#include "../harness/run.h"
#include "variants.h"

namespace isobar::speed {

struct Work {
  double flops, bytes;  // in all
  int reductions, ops;  // sums over rows as ops of their own; ops
};

// From the tape of one forward in f32, x (N, C).
Work work_of(const Variant& variant, const Tensor& x, const Weights& weights);

// For x (1000, 512) keys "reductions.<variant>" and "ops.<variant>" of the spelled-out norms, and per element of
// x, for all, "flops.<variant>" and "bytes.<variant>" (theory: 4 bytes a pass; rows and weights add 1 %), and the
// quotients "flops.layernorm_squares_over_{batchnorm, batchnorm_inference}". Expects
// the stated reductions, and that spelled-out and fused norms agree.
void check_variants(Run& run);

}  // namespace isobar::speed
