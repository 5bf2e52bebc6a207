// LanguageModel: a decoder-only Transformer, from symbols to logits. One configuration covers a Llama-like
// model (RMSNorm, rotated positions, SwiGLU, grouped heads: the defaults) and nanoGPT (LayerNorm, learned
// positions, GELU).
//
//   LanguageModel model({.vocabulary = 65, .n_layer = 4, .n_head = 4, .n_embd = 128}, rng.split("model"));
//   Tensor loss = model.loss(symbols, next_symbols);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "embedding.h"
#include "key_value_cache.h"
#include "linear.h"
#include "transformer_block.h"

namespace isobar {

enum class Positions { rope, learned };

struct LanguageModelConfig {
  int64_t vocabulary = 6400;
  int64_t block_size = 512;  // longest text; learned positions exist up to here
  int64_t n_layer = 8;
  int64_t n_head = 8;
  int64_t n_kv_head = 0;  // 0: n_head
  int64_t n_embd = 512;

  Positions positions = Positions::rope;
  double rope_base = 1e4;
  std::string norm = "rmsnorm";  // a name for make_norm
  NormOptions norm_options = {};
  Placement placement = Placement::pre;
  std::string ffn = "swiglu";  // or "gelu", "gelu_tanh" (GPT-2's), "relu", "relu2" (squared)
  int64_t hidden = 0;  // of the feed-forward part; 0: swiglu_hidden(n_embd), 4 · n_embd for the others
  bool bias = false;   // in attention and the feed-forward part; norms have their own switch
  bool qk_norm = false;
  double softcap = 0;  // on attention logits; 0: none
  bool tie_embeddings = true;
  double dropout = 0;  // on the embedding and on each branch
  // Whether a block keeps nothing for backward but its input, and is computed again there: the same gradients
  // to the bit, at the price of one more forward.
  bool activation_checkpointing = false;

  // Whether the matrices that end a branch, and lm_head unless it is tied, start at zero (Zhang et al. 2019,
  // Fixup, rule 1): each block begins as the identity.
  bool zero_init = false;
  double init_std = 0.02;                              // of every matrix (GPT-2)
  std::optional<double> embedding_std = std::nullopt;  // default: init_std
};

// Indices (B, T), i32 or i64, T ≤ block_size → logits (B, T, vocabulary). Weights start as N(0, init_std),
// those that end a branch (o_proj, down_proj, linear2) as N(0, init_std / √(2 n_layer)), or at 0 with
// zero_init; biases at 0. (N(mean, std).) The final norm exists in placement pre only: post-norm blocks end
// with one.
struct LanguageModel : Module {
  LanguageModelConfig config;
  Embedding embed_tokens;
  std::optional<Embedding> embed_positions;
  Dropout dropout;
  std::vector<TransformerBlock> blocks;
  std::unique_ptr<Module> norm;
  Linear lm_head;  // without bias; its weight is embed_tokens.weight where they are tied

  LanguageModel(const LanguageModelConfig& chosen, const Rng& rng);
  Tensor forward(const Tensor& symbols) override;
  using Module::operator();
  // The logits of `symbols` after the tokens in `cache`, to which they are added; an empty cache begins a
  // text. The same as those of the whole text at once but for rounding: products of few rows are summed in
  // another order. Throws Error where there would be more than block_size tokens.
  Tensor operator()(const Tensor& symbols, KeyValueCache& cache);
  // cross_entropy(model(symbols), targets), targets (B, T). Where fuses_loss(), the logits never exist as a
  // whole: the difference is one of rounding, and nobody sees an output of lm_head and of the model.
  Tensor loss(const Tensor& symbols, const Tensor& targets);
  // From this vocabulary on linear_cross_entropy takes no longer (at 2048 a twentieth, measured), and spares
  // most of what a small model's step keeps.
  static constexpr int64_t large_vocabulary = 4096;
  bool fuses_loss() const { return config.vocabulary >= large_vocabulary; }
  void fields(Fields& f) override;

 private:
  Tensor embed(const Tensor& symbols, int64_t start);
  Tensor hidden(const Tensor& symbols);
  Tensor continued(const Tensor& symbols, KeyValueCache& cache);
};

}  // namespace isobar
