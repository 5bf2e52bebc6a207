// TransformerBlock: attention and a feed-forward part, each a residual branch; the names are Llama's.
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

// x (B, T, width) → (B, T, width). The parts decide what attention and feed-forward are.
struct TransformerBlock : Module {
  std::unique_ptr<Module> input_layernorm, self_attn, post_attention_layernorm, mlp;
  Dropout dropout;
  Placement placement;

  TransformerBlock(int64_t width, std::unique_ptr<Module> attention_part,
                   std::unique_ptr<Module> feed_forward_part, const TransformerBlockOptions& options = {});
  Tensor forward(const Tensor& x) override;
  using Module::operator();
  // The same after the tokens in `past`, to which x's are added. Throws Error unless self_attn is a
  // CachingAttention.
  Tensor operator()(const Tensor& x, KeyValues& past);
  void fields(Fields& f) override;

 private:
  template <class Body>
  Tensor branch(const Tensor& x, Module& norm, Body&& body);
};

}  // namespace isobar
