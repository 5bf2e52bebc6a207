#include "language_model.h"

#include <cmath>

#include "../model.h"
#include "feed_forward.h"
#include "grouped_query_attention.h"

namespace isobar {
namespace {

const LanguageModelConfig& checked(const LanguageModelConfig& config) {
  check(
      config.vocab_size >= 1 && config.block_size >= 1 && config.n_layer >= 0 && config.n_embd >= 1,
      "language_model: wanted vocab_size, block_size and n_embd of at least 1 and n_layer of at least 0, got "
      "{}, {}, {}, {}",
      config.vocab_size, config.block_size, config.n_embd, config.n_layer);
  check(!config.zero_init ||
            (config.placement != Placement::rezero && config.placement != Placement::residual_free),
        "language_model: with placement {} and zero_init all gradients of the blocks are 0 for ever; leave "
        "out zero_init",
        placement_name(config.placement));
  return config;
}

std::unique_ptr<Module> make_attention(const LanguageModelConfig& config, const Rng& rng) {
  const bool rotated = config.positions == Positions::rope;
  return std::make_unique<GroupedQueryAttention>(
      config.n_embd, config.n_head, rng,
      GroupedQueryAttentionOptions{.n_kv_head = config.n_kv_head,
                                   .rope_base = rotated ? std::optional(config.rope_base) : std::nullopt,
                                   .qk_norm = config.qk_norm,
                                   .softcap = config.softcap,
                                   .causal = true,
                                   .bias = config.bias});
}

std::unique_ptr<Module> make_feed_forward(const LanguageModelConfig& config, const Rng& rng) {
  if (config.ffn == "swiglu")
    return std::make_unique<SwiGLU>(config.n_embd, rng,
                                    SwiGLUOptions{.hidden = config.hidden, .bias = config.bias});
  check(config.ffn == "gelu" || config.ffn == "gelu_tanh" || config.ffn == "relu" || config.ffn == "relu2",
        "language_model: wanted ffn swiglu, gelu, gelu_tanh, relu or relu2, got {}", config.ffn);
  const int64_t hidden = config.hidden > 0 ? config.hidden : 4 * config.n_embd;
  std::unique_ptr<Module> activation;
  if (config.ffn == "relu2")
    activation = std::make_unique<SquaredReLU>();
  else if (config.ffn == "relu")
    activation = std::make_unique<ReLU>();
  else
    activation = std::make_unique<GELU>(config.ffn == "gelu" ? GeluForm::erf : GeluForm::tanh);
  return std::make_unique<FeedForward>(config.n_embd, hidden, std::move(activation), rng,
                                       FeedForwardOptions{.bias = config.bias});
}

// √(number of branches).
double root_of_branches(const LanguageModelConfig& config) {
  return std::sqrt(2.0 * static_cast<double>(config.n_layer));
}

// The std of the last matrix of each branch.
double end_std_of(const LanguageModelConfig& config) {
  if (config.zero_init || config.placement == Placement::fixup) return 0;
  const bool scaled_already = config.placement == Placement::skipinit ||
                              config.placement == Placement::rezero ||
                              config.placement == Placement::residual_free;
  return scaled_already ? config.init_std : config.init_std / root_of_branches(config);
}

// GPT-2's initial values. The last matrix of each branch is smaller, so that the variance of the residual
// stream does not grow with the number of layers (Radford et al. 2019, section 2.3).
void initialize(LanguageModel& model, const Rng& rng) {
  const LanguageModelConfig& config = model.config;
  const double end_std = end_std_of(config);
  const double first_std =
      config.placement == Placement::fixup ? config.init_std / root_of_branches(config) : config.init_std;
  const double embedding_std = config.embedding_std.value_or(config.init_std);
  for (const NamedModule& part : named_modules(model)) {
    const Rng part_rng = rng.split(part.path);
    const auto draw = [&](Tensor& weight, double std) {
      assign(weight, part_rng.normal(weight.shape(), 0, std));
    };
    if (auto* embedding_part = dynamic_cast<Embedding*>(part.module))
      draw(embedding_part->weight, embedding_std);
    auto* linear_part = dynamic_cast<Linear*>(part.module);
    if (linear_part == nullptr || (linear_part == &model.lm_head && config.tie_embeddings)) continue;
    const bool ends_branch =
        part.path.ends_with("o_proj") || part.path.ends_with("down_proj") || part.path.ends_with("linear2");
    const bool begins_branch =
        part.path.ends_with("v_proj") || part.path.ends_with("up_proj") || part.path.ends_with("linear1");
    if (linear_part == &model.lm_head && config.zero_init)
      draw(linear_part->weight, 0);
    else
      draw(linear_part->weight, ends_branch ? end_std : begins_branch ? first_std : config.init_std);
    if (linear_part->bias.defined()) assign(linear_part->bias, zeros(linear_part->bias.shape()));
  }
}

}  // namespace

LanguageModel::LanguageModel(const LanguageModelConfig& chosen, const Rng& rng)
    : config(checked(chosen)),
      embed_tokens(config.vocab_size, config.n_embd, rng.split("embed_tokens")),
      dropout(config.dropout),
      norm(
          make_norm(has_norms(config.placement) && config.placement != Placement::post ? config.norm : "none",
                    config.n_embd, config.norm_options)),
      lm_head(config.tie_embeddings
                  ? Linear(embed_tokens.weight)
                  : Linear(config.n_embd, config.vocab_size, rng.split("lm_head"), {.bias = false})) {
  if (config.positions == Positions::learned)
    embed_positions.emplace(config.block_size, config.n_embd, rng.split("embed_positions"));
  for (int64_t i = 0; i < config.n_layer; ++i) {
    const Rng block_rng = rng.split(fmt::format("blocks.{}", i));
    blocks.emplace_back(config.n_embd, make_attention(config, block_rng.split("self_attn")),
                        make_feed_forward(config, block_rng.split("mlp")),
                        TransformerBlockOptions{.placement = config.placement,
                                                .norm = config.norm,
                                                .norm_options = config.norm_options,
                                                .dropout = config.dropout,
                                                .branch_scale = 1 / root_of_branches(config)});
  }
  initialize(*this, rng);
}

Tensor LanguageModel::forward(const Tensor& tokens) { return lm_head(hidden(tokens)); }

Tensor LanguageModel::loss(const Tensor& tokens, const Tensor& targets) {
  if (!fuses_loss()) return cross_entropy((*this)(tokens), targets);
  return call([&] { return lm_head.cross_entropy(hidden(tokens), targets); }, Output::hidden);
}

// The input of lm_head, (B, T, n_embd).
Tensor LanguageModel::hidden(const Tensor& tokens) {
  check(tokens.ndim() == 2 && tokens.size(1) <= config.block_size,
        "language_model: wanted tokens (B, T) with T up to {}, got {}", config.block_size, tokens.shape());
  Tensor x = embed(tokens, 0);
  for (TransformerBlock& block : blocks) x = block(x);
  return (*norm)(x);
}

Tensor LanguageModel::operator()(const Tensor& tokens, KeyValueCache& cache) {
  try {
    const Tensor logits = call([&] { return continued(tokens, cache); });
    if (cache.length == 0 || training()) cache.weights = stamps_of(*this);  // a BatchNorm moves
    cache.length += tokens.size(1);
    return logits;
  } catch (...) {
    for (KeyValues& layer : cache.layers) layer.keep_first(cache.length);
    throw;
  }
}

Tensor LanguageModel::continued(const Tensor& tokens, KeyValueCache& cache) {
  check(tokens.ndim() == 2 && cache.length + tokens.size(1) <= config.block_size,
        "language_model: wanted tokens (B, T) with T up to {} after the {} in the cache, got {}; start a new "
        "cache with the last tokens",
        config.block_size - cache.length, cache.length, tokens.shape());
  check(
      cache.length == 0 || (cache.layers.size() == blocks.size() && cache.weights == stamps_of(*this)),
      "language_model: the {} tokens in the cache were read by another model, or before this model's weights changed; "
      "start a new cache with all tokens",
      cache.length);
  if (cache.length == 0) cache.layers.assign(blocks.size(), {});
  Tensor x = embed(tokens, cache.length);
  for (size_t i = 0; i < blocks.size(); ++i) x = blocks[i](x, cache.layers[i]);
  return lm_head((*norm)(x));
}

// The input of the first block, (B, T, n_embd); the first token has position `start`.
Tensor LanguageModel::embed(const Tensor& tokens, int64_t start) {
  Tensor x = embed_tokens(tokens);
  const int64_t end = start + tokens.size(1);
  if (embed_positions) x = x + (*embed_positions)(slice(arange(end), 0, start, end));
  return dropout(x);
}

void LanguageModel::fields(Fields& f) {
  f("embed_tokens", embed_tokens);
  f("embed_positions", embed_positions);
  f("dropout", dropout);
  for (size_t i = 0; i < blocks.size(); ++i) f(fmt::format("blocks.{}", i), blocks[i]);
  f("norm", norm);
  f("lm_head", lm_head);
}

}  // namespace isobar
