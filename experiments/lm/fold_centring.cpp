#include "fold_centring.h"

#include "../../nn/layer_norm.h"
#include "../../nn/model.h"

namespace isobar {
namespace {

// LayerNorm without its centring; keeps the names of its tensors.
struct Uncentred : LayerNorm {
  explicit Uncentred(LayerNorm& norm) : LayerNorm(std::move(norm)) {}
  Tensor forward(const Tensor& x) override {
    const Tensor y = rms_norm(x, normalized_shape, weight, eps);
    return bias.defined() ? y + bias : y;
  }
};

void replace(std::unique_ptr<Module>& norm) {
  norm = std::make_unique<Uncentred>(dynamic_cast<LayerNorm&>(*norm));
}

void centre(Tensor& x, int channels) { assign(x, x.detach() - mean(x.detach(), {channels}, true)); }

}  // namespace

LanguageModel without_centring(LanguageModel& trained) {
  check(trained.config.norm == "layernorm" && trained.config.placement == Placement::pre,
        "without_centring: wanted a pre-norm model with layernorm, got norm {}", trained.config.norm);
  LanguageModel model(trained.config, Rng(0));
  convert(model, trained.embed_tokens.weight.dtype());
  copy_state(trained, model);
  for (TransformerBlock& block : model.blocks) {
    replace(block.input_layernorm);
    replace(block.post_attention_layernorm);
  }
  replace(model.norm);
  return model;
}

void fold_centring(LanguageModel& model) {
  check(model.config.placement == Placement::pre && !model.config.tie_embeddings,
        "fold_centring: wanted pre-norm, and an output matrix of its own: it must not be centred");
  centre(model.embed_tokens.weight, 1);
  if (model.embed_positions) centre(model.embed_positions->weight, 1);
  for (const NamedModule& part : named_modules(model)) {
    const std::string& path = part.path;
    if (!path.ends_with("o_proj") && !path.ends_with("down_proj") && !path.ends_with("linear2")) continue;
    auto& last = dynamic_cast<Linear&>(*part.module);
    centre(last.weight, 0);  // (out, in)
    if (last.bias.defined()) centre(last.bias, 0);
  }
}

}  // namespace isobar
