#include "transformer_block.h"

namespace isobar {

TransformerBlock::TransformerBlock(int64_t width, std::unique_ptr<Module> attention_part,
                                   std::unique_ptr<Module> feed_forward_part,
                                   const TransformerBlockOptions& options)
    : self_attn(std::move(attention_part)),
      mlp(std::move(feed_forward_part)),
      dropout(options.dropout),
      placement(options.placement) {
  const std::string norm = placement == Placement::none ? "none" : options.norm;
  input_layernorm = make_norm(norm, width, options.norm_options);
  post_attention_layernorm = make_norm(norm, width, options.norm_options);
}

Tensor TransformerBlock::branch(const Tensor& x, Module& norm, Module& body) {
  return placement == Placement::post ? norm(x + dropout(body(x))) : x + dropout(body(norm(x)));
}

Tensor TransformerBlock::forward(const Tensor& x) {
  const Tensor h = branch(x, *input_layernorm, *self_attn);
  return branch(h, *post_attention_layernorm, *mlp);
}

void TransformerBlock::fields(Fields& f) {
  f("input_layernorm", *input_layernorm);
  f("self_attn", *self_attn);
  f("post_attention_layernorm", *post_attention_layernorm);
  f("mlp", *mlp);
  f("dropout", dropout);
}

}  // namespace isobar
