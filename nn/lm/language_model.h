// LanguageModel: a decoder-only Transformer, from tokens to logits. The configuration covers Llama-like
// models (RMSNorm, rotary positions, SwiGLU: the defaults; grouped heads by n_kv_head) and nanoGPT
// (LayerNorm, learned positions, GELU).
//
//   LanguageModel model({.vocab_size = 65, .n_layer = 4, .n_head = 4, .n_embd = 128}, rng.split("model"));
//   Tensor loss = model.loss(tokens, next_tokens);
#pragma once

#include <optional>
#include <string>

#include "../linear.h"
#include "transformer_block.h"

namespace isobar {

// How a model knows the positions of tokens: rotary (rope()), or a learned embedding for each position.
enum class Positions { rope, learned };

// The configuration of a LanguageModel.
struct LanguageModelConfig {
  int64_t vocab_size = 6400;
  int64_t block_size = 512;  // the longest sequence, in tokens
  int64_t n_layer = 8;
  int64_t n_head = 8;
  int64_t n_kv_head = 0;  // 0: n_head
  int64_t n_embd = 512;

  Positions positions = Positions::rope;
  double rope_base = 1e4;
  std::string norm = "rmsnorm";  // a name for make_norm; unused where the placement has no norms
  NormOptions norm_options = {};
  Placement placement = Placement::pre;
  std::string ffn = "swiglu";  // or "gelu", "gelu_tanh" (GPT-2's), "relu", "relu2" (squared)
  int64_t hidden = 0;  // feed-forward channels; 0: swiglu_hidden(n_embd), or 4 · n_embd for other ffn
  bool bias = false;   // in attention and feed-forward layers; for norms see norm_options
  bool qk_norm = false;
  double softcap = 0;  // on attention logits; 0: no softcap
  bool tie_embeddings = true;
  double dropout = 0;  // on the embedding and on each branch
  // Whether the last matrix of each branch, and lm_head unless it is tied, start at zero (Zhang et al. 2019,
  // Fixup, rule 1): each block starts as the identity.
  bool zero_init = false;
  double init_std = 0.02;                              // of every matrix (GPT-2)
  std::optional<double> embedding_std = std::nullopt;  // default: init_std
};

// Tokens (B, T), i32 or i64, T ≤ block_size → logits (B, T, vocab_size). Weights start as N(mean 0, std
// init_std); the last matrices of the branches (o_proj, down_proj, linear2) have std init_std / √(2 n_layer),
// or start at 0 with zero_init; biases start at 0. There are 2 n_layer branches, and some placements have
// initial values of their own:
//   skipinit        its scale starts at 1/√(2 n_layer), the last matrices have std init_std
//   rezero          its scale starts at 0, the last matrices have std init_std
//   residual_free   no sum grows with the number of layers: the last matrices have std init_std
//   fixup           the last matrices start at 0, the first ones (v_proj, linear1 or up_proj) have std
//                   init_std / √(2 n_layer): the paper's L^(−1/(2m−2)) for m = 2 matrices in a branch. Queries,
//                   keys and the gate only weigh what passes, and keep init_std. The biases that the paper has
//                   inside a branch are the layers' own (`bias`).
// The final norm exists for pre, peri and residual_free: a post-norm block ends with a norm. Throws Error for
// zero_init with rezero or residual_free, which would never leave 0.
struct LanguageModel : Module {
  LanguageModelConfig config;
  Embedding embed_tokens;
  std::optional<Embedding> embed_positions;
  Dropout dropout;
  std::vector<TransformerBlock> blocks;
  std::unique_ptr<Module> norm;
  Linear lm_head;  // without bias; its weight is embed_tokens.weight with tie_embeddings

  LanguageModel(const LanguageModelConfig& chosen, const Rng& rng);
  Tensor forward(const Tensor& tokens) override;
  using Module::operator();
  // The logits of `tokens` after the tokens in `cache`, to which they are appended; an empty cache starts a sequence.
  // They are those of the whole sequence to the last bit, as training computes them but for dropout and batch statistics;
  // not with products of OpenBLAS (../../tests/spec/README.md). Throws Error for more than block_size tokens
  // in all, and for a cache that another model filled, or this one before its weights changed.
  Tensor operator()(const Tensor& tokens, KeyValueCache& cache);
  // cross_entropy(model(tokens), targets), targets (B, T). With fuses_loss() the logits are computed in
  // parts: the loss differs by rounding only, and observers see no output of lm_head and of the model.
  Tensor loss(const Tensor& tokens, const Tensor& targets);
  // From this vocab_size on linear_cross_entropy is measured to be as fast as separate logits (5 % slower at
  // 2048), and it saves most of the memory of a small model's step.
  static constexpr int64_t large_vocabulary = 4096;
  bool fuses_loss() const { return config.vocab_size >= large_vocabulary; }
  void fields(Fields& f) override;

 private:
  Tensor embed(const Tensor& tokens, int64_t start);
  Tensor hidden(const Tensor& tokens);
  Tensor continued(const Tensor& tokens, KeyValueCache& cache);
};

}  // namespace isobar
