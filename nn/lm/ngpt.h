// NGPT: a decoder-only Transformer whose vectors all lie on the unit sphere (nGPT, Loshchilov et al. 2024,
// arXiv 2410.01131, sections 2 and 3). N(x) = x / |x| over the last dimension, d = n_embd, D = d / n_head;
// a, s_qk, s_u, s_v, s_z are learned vectors:
//
//   block     h ← N(h + |a| (N(attention(h)) − h)), then the same with the mlp and another a
//   attention logits √D q·k with q = N(rope(q_proj(h))) · s_qk, k likewise; no softcap
//   mlp       down_proj(silu(s_v √d gate_proj(h)) · s_u up_proj(h))
//   model     s_z · lm_head(h)
//
// There are no other norms, no biases and no tied weights. Call normalize_weights() after each step of an
// optimizer without weight decay.
#pragma once

#include <vector>

#include "../linear.h"

namespace isobar {

// The configuration of an NGPT.
struct NGPTConfig {
  int64_t vocab_size = 6400;
  int64_t block_size = 512;
  int64_t n_layer = 8;
  int64_t n_head = 8;
  int64_t n_embd = 512;
  int64_t hidden = 0;  // of the mlp; 0: swiglu_hidden(n_embd)
  double rope_base = 1e4;
};

// x · s, or x · |s|, with s = weight · initial / stored. The weight starts at `stored`, so s starts at
// `initial`. The factor sets the size of steps in s for an optimizer with steps of fixed size, such as Adam
// (section 2.5).
struct LearnedScale : Module {
  Tensor weight;
  double factor;
  bool absolute;

  LearnedScale(int64_t width, double initial, double stored, bool of_absolute = false)
      : weight(full({width}, stored).set_trainable()), factor(initial / stored), absolute(of_absolute) {}
  Tensor forward(const Tensor& x) override {
    const Tensor s = weight * factor;
    return x * (absolute ? abs(s) : s);
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// A block of NGPT: h (B, T, n_embd) → (B, T, n_embd). Both vectors a start at 0.05.
struct NGPTBlock : Module {
  int64_t n_head;
  double rope_base;
  Linear q_proj, k_proj, v_proj, o_proj, gate_proj, up_proj, down_proj;
  LearnedScale qk_scale, gate_scale, up_scale;  // s_qk per head and channel, s_v, s_u
  LearnedScale attention_rate, mlp_rate;        // a

  NGPTBlock(const NGPTConfig& config, const Rng& rng);
  Tensor forward(const Tensor& h) override;
  void fields(Fields& f) override;

 private:
  Tensor attend(const Tensor& h);
  Tensor feed_forward(const Tensor& h);
};

// Tokens (B, T), i32 or i64, T ≤ block_size → logits (B, T, vocab_size). Weights start as N(mean 0, variance
// 1/d), then normalized. Throws Error unless n_embd is an even multiple of n_head.
struct NGPT : Module {
  NGPTConfig config;
  Embedding embed_tokens;
  std::vector<NGPTBlock> blocks;
  Linear lm_head;
  LearnedScale logit_scale;

  NGPT(const NGPTConfig& chosen, const Rng& rng);
  Tensor forward(const Tensor& tokens) override;
  void fields(Fields& f) override;
};

// Divides the vectors of length n_embd in every matrix by their norm: the rows, or the columns of o_proj and
// down_proj, whose outputs are added to h.
void normalize_weights(NGPT& model);

}  // namespace isobar
