// The norms that norm_speed times: fused ones, and the same spelled out in ops, as a reader would write them.
//
// `passes` counts how often an array of x's size is read or written: the least for a fused kernel (it finds a
// row in the cache when it comes back to it), every op's operands and result where the norm is spelled out.
#pragma once

#include <array>

#include "../../core/tensor.h"

namespace isobar::speed {

// Of every variant, trainable; each uses what it needs. weight and bias are (C), the others [1]. And BatchNorm's
// statistics after training, (C).
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

}  // namespace isobar::speed
