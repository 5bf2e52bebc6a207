// GroupedQueryAttention: Llama's self-attention. Several query heads share one key/value head (Ainslie et al.
// 2023). Rotary embeddings encode positions (Su et al. 2021); q and k may be normalized before the rotation.
//
//   q, k, v = q_proj(x), k_proj(x), v_proj(x), split into heads of D channels
//   q, k    = rope(q_norm(q)), rope(k_norm(k))
//   y       = o_proj(softmax(softcap(q kᵀ / √D)) v)
#pragma once

#include <optional>

#include "../linear.h"
#include "../rms_norm.h"
#include "key_value_cache.h"

namespace isobar {

struct GroupedQueryAttentionOptions {
  int64_t n_kv_head = 0;                  // a divisor of n_head; 0: n_head, which is multi-head attention
  std::optional<double> rope_base = 1e4;  // nullopt: no rotation
  RopeStyle rope_style = RopeStyle::half_split;
  bool qk_norm = false;  // RMSNorm over D on q and k, one weight for all heads
  double qk_norm_eps = 1e-6;
  double softcap = 0;   // on the logits; 0: no softcap
  bool causal = false;  // true: position t sees positions up to t; required for a key/value cache
  bool bias = false;    // in all four projections
};

// x (B, T, C) → (B, T, C), C = n_embd, D = C / n_head. All projections start as Linear's default. Throws
// Error unless n_head divides C, n_kv_head divides n_head, and D is even where there is a rotation.
struct GroupedQueryAttention : CachingAttention {
  int64_t n_head;
  GroupedQueryAttentionOptions options;
  Linear q_proj, k_proj, v_proj, o_proj;
  std::optional<RMSNorm> q_norm, k_norm;

  GroupedQueryAttention(int64_t n_embd, int64_t n_head, const Rng& rng,
                        const GroupedQueryAttentionOptions& chosen = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  Tensor operator()(const Tensor& x, KeyValues& past) override;
  void fields(Fields& f) override;

 private:
  Tensor attend(const Tensor& x, KeyValues* past);
};

}  // namespace isobar
