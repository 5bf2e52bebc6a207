// TransformerBlock: an attention layer and a feed-forward layer, each in a residual branch. The names are
// Llama's.
//
//   pre    h = x + self_attn(input_layernorm(x));   y = h + mlp(post_attention_layernorm(h))
//   post   h = input_layernorm(x + self_attn(x));   y = post_attention_layernorm(h + mlp(h))
//   none   h = x + self_attn(x);                    y = h + mlp(h)
#pragma once

#include "dropout.h"
#include "key_value_cache.h"
#include "norm.h"
#include "placement.h"

namespace isobar {

struct TransformerBlockOptions {
  Placement placement = Placement::pre;
  std::string norm = "rmsnorm";  // a name for make_norm
  NormOptions norm_options = {};
  double dropout = 0;  // on the output of each branch
};

// x (B, T, n_embd) → (B, T, n_embd). The caller supplies the attention and the feed-forward layer.
struct TransformerBlock : Module {
  std::unique_ptr<Module> input_layernorm, self_attn, post_attention_layernorm, mlp;
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
  template <class Body>
  Tensor branch(const Tensor& x, Module& norm, Body&& body);
};

}  // namespace isobar
