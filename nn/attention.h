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

  MultiheadAttention(int64_t embed_dim, int64_t head_count, const Rng& rng,
                     MultiheadAttentionOptions options = {})
      : num_heads(head_count),
        causal(options.causal),
        in_proj_weight(
            init::xavier_uniform({3 * embed_dim, embed_dim}, rng.split("in_proj_weight")).set_trainable()),
        in_proj_bias(options.bias ? zeros(3 * embed_dim).set_trainable() : Tensor()),
        out_proj(init::linear_default({embed_dim, embed_dim}, embed_dim, rng.split("out_proj")),
                 options.bias ? zeros(embed_dim) : Tensor()) {
    check(num_heads >= 1 && embed_dim % num_heads == 0,
          "attention: a width of {} does not divide into {} heads", embed_dim, num_heads);
  }

  Tensor forward(const Tensor& x) override {
    const int64_t width = out_proj.weight.size(0);
    check(x.ndim() == 3 && x.size(2) == width, "attention: wanted x (B, T, {}), got {}", width, x.shape());
    const Tensor projected = linear(x, in_proj_weight, in_proj_bias);
    const auto part = [this, &projected, &x, width](int64_t which) {
      return reshape(slice(projected, 2, which * width, (which + 1) * width),
                     {x.size(0), x.size(1), num_heads, width / num_heads});
    };
    const Tensor mixed = attention(part(0), part(1), part(2), {.causal = causal});
    return out_proj(reshape(mixed, x.shape()));
  }
  void fields(Fields& f) override {
    f("in_proj_weight", in_proj_weight);
    f("in_proj_bias", in_proj_bias);
    f("out_proj", out_proj);
  }
};

}  // namespace isobar
