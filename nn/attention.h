// MultiheadAttention: self-attention with the parameters of PyTorch's nn.MultiheadAttention.
//
//   q, k, v = split(x in_proj_weightᵀ + in_proj_bias)
//   y = (softmax(q kᵀ / √D) v per head, heads concatenated) out_projᵀ        (Vaswani et al. 2017)
#pragma once

#include "linear.h"

namespace isobar {

struct MultiheadAttentionOptions {
  bool bias = true;
  bool causal = false;  // true: position t sees positions up to t
};

// x (B, T, C) → (B, T, C), C = embed_dim, with D = C / num_heads channels per head. in_proj_weight (3C, C)
// starts Xavier uniform, out_proj.weight (C, C) as init::linear_default, the biases in_proj_bias (3C) and
// out_proj.bias (C) at 0. Throws Error unless num_heads divides embed_dim.
struct MultiheadAttention : Module {
  int64_t num_heads;
  bool causal;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj;

  MultiheadAttention(int64_t embed_dim, int64_t num_heads, const Rng& rng,
                     MultiheadAttentionOptions options = {});
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar
