// MultiheadAttention: attention with the parameters of PyTorch's nn.MultiheadAttention, of x to itself or of a query
// to the keys and values of another sequence.
//
//   q, k, v = split(x in_proj_weightᵀ + in_proj_bias)
//   y = (dropout(softmax(q kᵀ / √D + mask)) v per head, heads concatenated) out_projᵀ     (Vaswani et al. 2017)
#pragma once

#include <limits>

#include "../autograd/tape.h"
#include "linear.h"

namespace isobar {

struct MultiheadAttentionOptions {
  bool bias = true;
  bool causal = false;  // true: position t sees positions up to t
  double dropout = 0;   // of the probabilities, in training
};

// Which keys a query does not see. As in PyTorch's nn.MultiheadAttention, TRUE HIDES a key; in attn_mask of
// attention() (and in PyTorch's scaled_dot_product_attention) true shows it.
struct MultiheadAttentionMasks {
  Tensor key_padding_mask = {};  // (B, S) bool: true where a key is padding
  // (T, S), or (B · num_heads, T, S) with head h of sample b at b · num_heads + h. bool: true where the query does
  // not see the key; f32 or f64, as x: added to the logits.
  Tensor attn_mask = {};
};

// x (B, T, C) → (B, T, C), C = embed_dim, with D = C / num_heads channels per head. in_proj_weight (3C, C)
// starts Xavier uniform, out_proj.weight (C, C) as init::linear_default, the biases in_proj_bias (3C) and
// out_proj.bias (C) at 0. Throws Error unless num_heads divides embed_dim.
//
//   MultiheadAttention attention(64, 4, rng.split("attention"), {.dropout = 0.1});
//   y = attention(x);                                                     // of x to itself
//   y = attention(x, {.key_padding_mask = is_padding});                   // the same, without its padding
//   y = attention(x, memory, memory, {.key_padding_mask = is_padding});   // cross-attention
//
// A query from which the masks hide all keys has mixed values of 0, and y is out_proj.bias there. Dropout draws as
// the layer Dropout does: it needs a Tape with an Rng in training.
struct MultiheadAttention : Module {
  int64_t num_heads;
  bool causal;
  double dropout;
  Tensor in_proj_weight, in_proj_bias;
  Linear out_proj;

  MultiheadAttention(int64_t embed_dim, int64_t head_count, const Rng& rng,
                     MultiheadAttentionOptions options = {})
      : num_heads(head_count),
        causal(options.causal),
        dropout(options.dropout),
        in_proj_weight(
            init::xavier_uniform({3 * embed_dim, embed_dim}, rng.split("in_proj_weight")).set_trainable()),
        in_proj_bias(options.bias ? zeros(3 * embed_dim).set_trainable() : Tensor()),
        out_proj(init::linear_default({embed_dim, embed_dim}, embed_dim, rng.split("out_proj")),
                 options.bias ? zeros(embed_dim) : Tensor()) {
    check(num_heads >= 1 && embed_dim % num_heads == 0,
          "attention: a width of {} does not divide into {} heads", embed_dim, num_heads);
    check(dropout >= 0 && dropout < 1, "attention: wanted a dropout in [0, 1), got {}", dropout);
  }

  // Query (B, T, C), key and value (B, S, C) → (B, T, C).
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const MultiheadAttentionMasks& masks = {}) {
    return call([this, &query, &key, &value, &masks] {
      check_input("query", query);
      check_input("key", key);
      check(key.shape() == value.shape() && key.size(0) == query.size(0),
            "attention: wanted query (B, T, C) and key and value (B, S, C), got {}, {} and {}", query.shape(),
            key.shape(), value.shape());
      return mixed(part(query, 0), part(key, 1), part(value, 2), masks);
    });
  }
  Tensor operator()(const Tensor& x, const MultiheadAttentionMasks& masks) {
    return call([this, &x, &masks] { return of_itself(x, masks); });
  }
  using Module::operator();

  Tensor forward(const Tensor& x) override { return of_itself(x, {}); }
  void fields(Fields& f) override {
    f("in_proj_weight", in_proj_weight);
    f("in_proj_bias", in_proj_bias);
    f("out_proj", out_proj);
  }

 private:
  int64_t width() const { return out_proj.weight.size(0); }
  void check_input(const char* name, const Tensor& x) const {
    check(x.ndim() == 3 && x.size(2) == width(), "attention: wanted {} (B, T, {}), got {}", name, width(),
          x.shape());
  }
  // (B, T, C) → (B, T, H, D)
  Tensor heads(const Tensor& x) const {
    return reshape(x, {x.size(0), x.size(1), num_heads, width() / num_heads});
  }
  // The queries (0), keys (1) or values (2) of x.
  Tensor part(const Tensor& x, int64_t which) const {
    const int64_t begin = which * width(), end = begin + width();
    return heads(linear(x, slice(in_proj_weight, 0, begin, end),
                        in_proj_bias.defined() ? slice(in_proj_bias, 0, begin, end) : Tensor()));
  }
  Tensor of_itself(const Tensor& x, const MultiheadAttentionMasks& masks) {
    check_input("x", x);
    const Tensor projected = linear(x, in_proj_weight, in_proj_bias);
    const auto third = [this, &projected](int64_t which) {
      return heads(slice(projected, 2, which * width(), (which + 1) * width()));
    };
    return mixed(third(0), third(1), third(2), masks);
  }
  Tensor mixed(const Tensor& q, const Tensor& k, const Tensor& v, const MultiheadAttentionMasks& masks) {
    AttentionOptions options{.causal = causal};
    options.attn_mask = mask_of(masks, q, k);
    if (training() && dropout > 0) {
      check(
          Tape::active() != nullptr,
          "attention: in training the key of the dropout comes from the active tape, and there is none; call "
          "eval(model) or open a Tape");
      options.dropout_p = dropout;
      options.dropout_rng = Tape::active()->next_rng();
    }
    return out_proj(reshape(attention(q, k, v, options), {q.size(0), q.size(1), width()}));
  }
  // Both masks as one for attention(), or undefined.
  Tensor mask_of(const MultiheadAttentionMasks& masks, const Tensor& q, const Tensor& k) const {
    const int64_t batch = q.size(0), queries = q.size(1), keys = k.size(1);
    Tensor mask = masks.attn_mask, visible;
    if (mask.defined()) {
      const Shape each{queries, keys}, all{batch * num_heads, queries, keys};
      check(mask.shape() == each || mask.shape() == all,
            "attention: attn_mask must be (T, S) = {} or (B · num_heads, T, S) = {}, got {}", each, all,
            mask.shape());
      check(
          mask.dtype() == Dtype::boolean || mask.dtype() == q.dtype(),
          "attention: attn_mask must be bool, true where a query does not see a key, or {} to be added, got {}",
          q.dtype(), mask.dtype());
      if (mask.ndim() == 3) mask = reshape(mask, {batch, num_heads, queries, keys});
      if (mask.dtype() == Dtype::boolean) mask = !mask;
    }
    const Tensor& padding = masks.key_padding_mask;
    if (!padding.defined()) return mask;
    check(padding.dtype() == Dtype::boolean && padding.shape() == Shape{batch, keys},
          "attention: key_padding_mask must be (B, S) = {} of bool, true where a key is padding, got {} {}",
          Shape{batch, keys}, padding.shape(), padding.dtype());
    visible = reshape(!padding, {batch, 1, 1, keys});
    if (!mask.defined()) return visible;
    if (mask.dtype() == Dtype::boolean) return mask && visible;
    return where(visible, mask, -std::numeric_limits<double>::infinity());
  }
};

}  // namespace isobar
