// MultiheadAttention: self-attention with the parameters of PyTorch's nn.MultiheadAttention.
//
//   q, k, v = split(x in_proj_weightᵀ + in_proj_bias)
//   y = (softmax(q kᵀ / √D) v over each head, heads side by side) out_projᵀ        (Vaswani et al. 2017)
#pragma once

#include "linear.h"

namespace isobar {

struct MultiheadAttentionOptions {
  bool bias = true;
  bool causal = false;  // true: position t sees positions up to t
};

// x (B, T, C) → (B, T, C), with C / heads channels a head. in_proj_weight (3C, C) starts as Xavier's uniform,
// in_proj_bias (3C) at 0, out_proj.weight (C, C) as Linear's default, out_proj.bias (C) at 0.
struct MultiheadAttention : Module {
  int64_t heads;
  bool causal;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj;

  MultiheadAttention(int64_t width, int64_t head_count, const Rng& rng,
                     MultiheadAttentionOptions options = {});
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar
