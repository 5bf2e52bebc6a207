#include "transformer_block.h"

namespace isobar {
namespace {

BranchScalars scalars_of(const TransformerBlockOptions& options) {
  const auto number = [](double value) { return full({1}, value).set_trainable(); };
  if (options.placement == Placement::skipinit) return {number(options.branch_scale), {}, {}};
  if (options.placement == Placement::rezero) return {number(0), {}, {}};
  if (options.placement == Placement::fixup) return {number(1), number(0), number(0)};
  return {};
}

// A residual branch around body() with the norms and numbers that its placement has; `norm` is the identity
// for placements without norms, and what is null or undefined is left out.
template <class Body>
Tensor branch(const Tensor& x, Placement placement, Module& norm, Module* output_norm,
              const BranchScalars& scalars, Module& dropout, Body&& body) {
  if (placement == Placement::post) return norm(x + dropout(body(x)));
  Tensor y = body(norm(scalars.bias_before.defined() ? x + scalars.bias_before : x));
  if (output_norm != nullptr) y = (*output_norm)(y);
  y = dropout(y);
  if (placement == Placement::residual_free) return y;
  y = x + (scalars.scale.defined() ? scalars.scale * y : y);
  return scalars.bias_after.defined() ? y + scalars.bias_after : y;
}

}  // namespace

TransformerBlock::TransformerBlock(int64_t n_embd, std::unique_ptr<Module> attention_part,
                                   std::unique_ptr<Module> feed_forward_part,
                                   const TransformerBlockOptions& options)
    : self_attn(std::move(attention_part)),
      mlp(std::move(feed_forward_part)),
      self_attn_scalars(scalars_of(options)),
      mlp_scalars(scalars_of(options)),
      dropout(options.dropout),
      placement(options.placement) {
  check(self_attn != nullptr && mlp != nullptr, "transformer_block: {} is null; wanted a module",
        self_attn == nullptr ? "self_attn" : "mlp");
  const auto norm = [&] {
    return make_norm(has_norms(placement) ? options.norm : "none", n_embd, options.norm_options);
  };
  input_layernorm = norm();
  post_attention_layernorm = norm();
  if (placement != Placement::peri) return;
  self_attn_output_layernorm = norm();
  mlp_output_layernorm = norm();
}

template <class Attention>
Tensor TransformerBlock::run(const Tensor& x, Attention&& attention) {
  const Tensor h = branch(x, placement, *input_layernorm, self_attn_output_layernorm.get(), self_attn_scalars,
                          dropout, attention);
  return branch(h, placement, *post_attention_layernorm, mlp_output_layernorm.get(), mlp_scalars, dropout,
                *mlp);
}

Tensor TransformerBlock::forward(const Tensor& x) { return run(x, *self_attn); }

Tensor TransformerBlock::operator()(const Tensor& x, KeyValues& past) {
  return appending(past, [&] {
    return call([&] {
      auto* const caching = dynamic_cast<CachingAttention*>(self_attn.get());
      if (caching == nullptr)
        throw_error(fmt::format(
            "transformer_block: wanted attention with a key/value cache, such as GroupedQueryAttention, got {}",
            self_attn->type_name()));
      return run(x, [&](const Tensor& y) { return (*caching)(y, past); });
    });
  });
}

void TransformerBlock::fields(Fields& f) {
  f("input_layernorm", input_layernorm);
  f("self_attn", self_attn);
  if (self_attn_output_layernorm) f("self_attn_output_layernorm", self_attn_output_layernorm);
  f("self_attn_scale", self_attn_scalars.scale);
  f("self_attn_bias_before", self_attn_scalars.bias_before);
  f("self_attn_bias_after", self_attn_scalars.bias_after);
  f("post_attention_layernorm", post_attention_layernorm);
  f("mlp", mlp);
  if (mlp_output_layernorm) f("mlp_output_layernorm", mlp_output_layernorm);
  f("mlp_scale", mlp_scalars.scale);
  f("mlp_bias_before", mlp_scalars.bias_before);
  f("mlp_bias_after", mlp_scalars.bias_after);
  f("dropout", dropout);
}

}  // namespace isobar
