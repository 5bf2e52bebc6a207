#include "transformer_block.h"

namespace isobar {

TransformerBlock::TransformerBlock(int64_t n_embd, std::unique_ptr<Module> attention_part,
                                   std::unique_ptr<Module> feed_forward_part,
                                   const TransformerBlockOptions& options)
    : self_attn(std::move(attention_part)),
      mlp(std::move(feed_forward_part)),
      dropout(options.dropout),
      placement(options.placement) {
  check(self_attn != nullptr && mlp != nullptr, "transformer_block: {} is null; wanted a module",
        self_attn == nullptr ? "self_attn" : "mlp");
  const std::string norm = placement == Placement::none ? "none" : options.norm;
  input_layernorm = make_norm(norm, n_embd, options.norm_options);
  post_attention_layernorm = make_norm(norm, n_embd, options.norm_options);
}

template <class Body>
Tensor TransformerBlock::branch(const Tensor& x, Module& norm, Body&& body) {
  return placement == Placement::post ? norm(x + dropout(body(x))) : x + dropout(body(norm(x)));
}

Tensor TransformerBlock::forward(const Tensor& x) {
  const Tensor h = branch(x, *input_layernorm, *self_attn);
  return branch(h, *post_attention_layernorm, *mlp);
}

Tensor TransformerBlock::operator()(const Tensor& x, KeyValues& past) {
  return call([&] {
    auto* const caching = dynamic_cast<CachingAttention*>(self_attn.get());
    check(caching != nullptr,
          "transformer_block: wanted attention with a key/value cache, such as GroupedQueryAttention, got {}",
          self_attn->type_name());
    const Tensor h = branch(x, *input_layernorm, [&](const Tensor& y) { return (*caching)(y, past); });
    return branch(h, *post_attention_layernorm, *mlp);
  });
}

void TransformerBlock::fields(Fields& f) {
  f("input_layernorm", input_layernorm);
  f("self_attn", self_attn);
  f("post_attention_layernorm", post_attention_layernorm);
  f("mlp", mlp);
  f("dropout", dropout);
}

}  // namespace isobar
