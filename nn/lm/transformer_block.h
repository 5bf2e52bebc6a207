// TransformerBlock: an attention layer and a feed-forward layer, each in a residual branch. The names are
// Llama's.
//
//   pre    h = x + self_attn(input_layernorm(x));   y = h + mlp(post_attention_layernorm(h))
//   post   h = input_layernorm(x + self_attn(x));   y = post_attention_layernorm(h + mlp(h))
//   none   h = x + self_attn(x);                    y = h + mlp(h)
//
// The other placements are those of norm.h, with the norm of pre where there is one.
#pragma once

#include "../dropout.h"
#include "../norm.h"
#include "key_value_cache.h"

namespace isobar {

struct TransformerBlockOptions {
  Placement placement = Placement::pre;
  std::string norm = "rmsnorm";  // a name for make_norm; unused where the placement has no norms
  NormOptions norm_options = {};
  double dropout = 0;       // on the output of each branch
  double branch_scale = 1;  // initial value of skipinit's scale
};

// Trainable numbers [1] of one branch: scale for skipinit, rezero and fixup, the biases for fixup only.
// Absent ones are undefined.
struct BranchScalars {
  Tensor scale, bias_before, bias_after;
};

// x (B, T, n_embd) → (B, T, n_embd). The caller supplies the attention and the feed-forward layer with their
// initial weights, also those of fixup, whose branches are to start at 0; LanguageModel sets them.
struct TransformerBlock : Module {
  std::unique_ptr<Module> input_layernorm, self_attn, post_attention_layernorm, mlp;
  std::unique_ptr<Module> self_attn_output_layernorm, mlp_output_layernorm;  // for peri; null otherwise
  BranchScalars self_attn_scalars, mlp_scalars;
  Dropout dropout;
  Placement placement;

  TransformerBlock(int64_t n_embd, std::unique_ptr<Module> attention_part,
                   std::unique_ptr<Module> feed_forward_part, const TransformerBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  // The same for x after the tokens in `past`; the keys and values of x are appended to it. Throws Error
  // unless self_attn is a CachingAttention.
  Tensor operator()(const Tensor& x, KeyValues& past);
  void fields(Fields& f) override;

 private:
  template <class Attention>
  Tensor run(const Tensor& x, Attention&& attention);
};

}  // namespace isobar
