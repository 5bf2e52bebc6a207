#include "layer.h"

namespace isobar::transformer_stack {
namespace {

std::unique_ptr<Module> norm_of(const LayerOptions& options) {
  const std::string& name = options.placement == "none" ? options.placement : options.norm;
  return make_norm(name, {options.d_model}, {.eps = 1e-6, .bias = false});
}

}  // namespace

TransformerLayer::TransformerLayer(const LayerOptions& options, const Rng& rng)
    : placement(options.placement),
      self_attn(options.d_model, options.nhead, rng.split("self_attn")),
      linear1(options.d_model, options.dim_feedforward, rng.split("linear1")),
      linear2(options.dim_feedforward, options.d_model, rng.split("linear2")),
      norm1(norm_of(options)),
      norm2(norm_of(options)),
      dropout1(options.dropout),
      dropout2(options.dropout) {}

Tensor TransformerLayer::feed_forward(const Tensor& x) { return linear2(dropout2(activation(linear1(x)))); }

Tensor TransformerLayer::forward(const Tensor& x) {
  if (placement == "residual_free") return feed_forward((*norm2)(self_attn((*norm1)(x))));
  if (placement == "post") {
    const Tensor h = (*norm1)(x + dropout1(self_attn(x)));
    return (*norm2)(h + feed_forward(h));
  }
  check(placement == "source001" || placement == "none", "layer: unknown placement '{}'", placement);
  const Tensor h = x + dropout1(self_attn((*norm1)(x)));
  return h + feed_forward((*norm2)(h));
}

void TransformerLayer::fields(Fields& f) {
  f("self_attn", self_attn);
  f("linear1", linear1);
  f("linear2", linear2);
  f("norm1", *norm1);
  f("norm2", *norm2);
  f("dropout1", dropout1);
  f("dropout2", dropout2);
  f("activation", activation);
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
