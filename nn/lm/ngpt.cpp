#include "ngpt.h"

#include <cmath>

#include "../model.h"
#include "feed_forward.h"

namespace isobar {
namespace {

// Much smaller than the mean square 1/d of a vector on the sphere.
constexpr double eps = 1e-20;

Tensor on_sphere(const Tensor& x) {
  const int64_t width = x.size(x.ndim() - 1);
  return rms_norm(x, {width}, {}, eps) / std::sqrt(static_cast<double>(width));
}

// A step on the sphere from h towards y.
Tensor towards(const Tensor& h, const Tensor& y, LearnedScale& rate) {
  return on_sphere(h + rate(on_sphere(y) - h));
}

double over_root(int64_t width) { return 1 / std::sqrt(static_cast<double>(width)); }
const NGPTConfig& checked(const NGPTConfig& config) {
  check(config.n_head >= 1 && config.n_embd % (2 * config.n_head) == 0,
        "ngpt: wanted n_embd to be an even multiple of n_head, got {} and {}", config.n_embd, config.n_head);
  return config;
}
int64_t hidden_of(const NGPTConfig& config) {
  return config.hidden > 0 ? config.hidden : swiglu_hidden(config.n_embd);
}
Linear matrix(int64_t in, int64_t out, const Rng& rng) { return Linear(in, out, rng, {.bias = false}); }

}  // namespace

NGPTBlock::NGPTBlock(const NGPTConfig& config, const Rng& rng)
    : n_head(config.n_head),
      rope_base(config.rope_base),
      q_proj(matrix(config.n_embd, config.n_embd, rng.split("q_proj"))),
      k_proj(matrix(config.n_embd, config.n_embd, rng.split("k_proj"))),
      v_proj(matrix(config.n_embd, config.n_embd, rng.split("v_proj"))),
      o_proj(matrix(config.n_embd, config.n_embd, rng.split("o_proj"))),
      gate_proj(matrix(config.n_embd, hidden_of(config), rng.split("gate_proj"))),
      up_proj(matrix(config.n_embd, hidden_of(config), rng.split("up_proj"))),
      down_proj(matrix(hidden_of(config), config.n_embd, rng.split("down_proj"))),
      qk_scale(config.n_embd, 1, over_root(config.n_embd)),
      gate_scale(hidden_of(config), 1, 1),
      up_scale(hidden_of(config), 1, 1),
      attention_rate(config.n_embd, 0.05, over_root(config.n_embd), true),
      mlp_rate(config.n_embd, 0.05, over_root(config.n_embd), true) {}

Tensor NGPTBlock::attend(const Tensor& h) {
  const int64_t channels = h.size(2) / n_head;
  const auto heads = [&](const Tensor& y) { return reshape(y, {h.size(0), h.size(1), n_head, channels}); };
  const auto scaled = [&](const Tensor& y) {
    return heads(qk_scale(reshape(on_sphere(rope(heads(y), rope_base)), h.shape())));
  };
  const Tensor q = scaled(q_proj(h)), k = scaled(k_proj(h));
  const Tensor mixed =
      attention(q, k, heads(v_proj(h)), {.causal = true, .scale = std::sqrt(static_cast<double>(channels))});
  return o_proj(reshape(mixed, h.shape()));
}

Tensor NGPTBlock::feed_forward(const Tensor& h) {
  const Tensor gate = gate_scale(gate_proj(h)) * std::sqrt(static_cast<double>(h.size(2)));
  return down_proj(swiglu(gate, up_scale(up_proj(h))));
}

Tensor NGPTBlock::forward(const Tensor& h) {
  const Tensor attended = towards(h, attend(h), attention_rate);
  return towards(attended, feed_forward(attended), mlp_rate);
}

void NGPTBlock::fields(Fields& f) {
  f("q_proj", q_proj);
  f("k_proj", k_proj);
  f("v_proj", v_proj);
  f("o_proj", o_proj);
  f("gate_proj", gate_proj);
  f("up_proj", up_proj);
  f("down_proj", down_proj);
  f("qk_scale", qk_scale);
  f("gate_scale", gate_scale);
  f("up_scale", up_scale);
  f("attention_rate", attention_rate);
  f("mlp_rate", mlp_rate);
}

NGPT::NGPT(const NGPTConfig& chosen, const Rng& rng)
    : config(checked(chosen)),
      embed_tokens(config.vocab_size, config.n_embd, rng.split("embed_tokens")),
      lm_head(matrix(config.n_embd, config.vocab_size, rng.split("lm_head"))),
      logit_scale(config.vocab_size, 1, over_root(config.n_embd)) {
  for (int64_t i = 0; i < config.n_layer; ++i)
    blocks.emplace_back(config, rng.split(fmt::format("blocks.{}", i)));
  for (const NamedModule& part : named_modules(*this))
    if (auto* linear_part = dynamic_cast<Linear*>(part.module))
      assign(linear_part->weight,
             rng.split(part.path).normal(linear_part->weight.shape(), 0, over_root(config.n_embd)));
  normalize_weights(*this);
}

Tensor NGPT::forward(const Tensor& tokens) {
  check(tokens.ndim() == 2 && tokens.size(1) <= config.block_size,
        "ngpt: wanted tokens (B, T) with T up to {}, got {}", config.block_size, tokens.shape());
  Tensor h = embed_tokens(tokens);
  for (NGPTBlock& block : blocks) h = block(h);
  return logit_scale(lm_head(h));
}

void NGPT::fields(Fields& f) {
  f("embed_tokens", embed_tokens);
  for (size_t i = 0; i < blocks.size(); ++i) f(fmt::format("blocks.{}", i), blocks[i]);
  f("lm_head", lm_head);
  f("logit_scale", logit_scale);
}

void normalize_weights(NGPT& model) {
  for (const NamedTensor& entry : named_parameters(model)) {
    if (entry.tensor.ndim() != 2) continue;
    Tensor weight = entry.tensor;
    const bool columns = entry.name.ends_with("o_proj.weight") || entry.name.ends_with("down_proj.weight");
    const Tensor values = weight.detach();
    assign(weight, columns ? transpose(on_sphere(transpose(values))) : on_sphere(values));
  }
}

}  // namespace isobar
