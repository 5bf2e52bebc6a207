#include "layer.h"

namespace isobar::transformer_stack {
namespace {

std::unique_ptr<Module> attention_of(const LayerOptions& options, const Rng& rng) {
  return std::make_unique<Sequential>(
      MultiheadAttention(options.d_model, options.nhead, rng.split("self_attn")), Dropout(options.dropout));
}

std::unique_ptr<Module> feed_forward_of(const LayerOptions& options, const Rng& rng) {
  return std::make_unique<FeedForward>(options.d_model, options.dim_feedforward, std::make_unique<ReLU>(),
                                       rng, FeedForwardOptions{.dropout = options.dropout});
}

Placement placement_of(const std::string& name) {
  return name == "source001" ? Placement::pre : placement_from_name(name);
}

}  // namespace

TransformerLayer::TransformerLayer(const LayerOptions& options, const Rng& rng)
    : TransformerBlock(options.d_model, attention_of(options, rng), feed_forward_of(options, rng),
                       {.placement = placement_of(options.placement),
                        .norm = options.norm,
                        .norm_options = {.eps = 1e-6, .bias = false}}) {}

void TransformerLayer::fields(Fields& f) {
  const auto& attention = dynamic_cast<Sequential&>(*self_attn);
  auto& feed_forward = dynamic_cast<FeedForward&>(*mlp);
  f("self_attn", attention.parts[0]);
  f("linear1", feed_forward.linear1);
  f("linear2", feed_forward.linear2);
  f("norm1", input_layernorm);
  f("norm2", post_attention_layernorm);
  if (self_attn_output_layernorm) f("norm1_output", self_attn_output_layernorm);
  if (mlp_output_layernorm) f("norm2_output", mlp_output_layernorm);
  f("dropout1", attention.parts[1]);
  f("dropout2", feed_forward.dropout);
  f("activation", feed_forward.activation);
}

Stack::Stack(int64_t depth, const LayerOptions& options, const Rng& rng) {
  layers.reserve(static_cast<size_t>(depth));
  for (int64_t i = 1; i <= depth; ++i) layers.emplace_back(options, rng.split(fmt::format("layer {}", i)));
}

Tensor Stack::forward(const Tensor& x) {
  Tensor y = x;
  for (TransformerLayer& layer : layers) y = layer(y);
  return y;
}

void Stack::fields(Fields& f) {
  for (size_t i = 0; i < layers.size(); ++i) f(std::to_string(i + 1), layers[i]);
}

}  // namespace isobar::transformer_stack
