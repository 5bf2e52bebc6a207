// LmConfig: every knob of the small language model and its training, with nanoGPT's names where it has them.
#pragma once

#include <set>

#include "../../../nn/lm/language_model.h"

namespace isobar {

// The defaults are a Llama-like model (RMSNorm, RoPE, SwiGLU, two query heads to a key/value head) that
// learns to spell Tiny Shakespeare in about two minutes on two cores.
struct LmConfig : HasFields {
  std::string corpus = "";     // empty: Tiny Shakespeare, which is part of the repository
  bool as_is = false;          // true: says nothing of a corpus that hardly is a text
  std::string tokenizer = "";  // char, or what a token store brings
  std::string init_from = "";  // empty: random weights
  int64_t vocab_size = 0;      // 0: the tokenizer's; more leaves rows of the embedding unused

  int64_t n_layer = 4;
  int64_t n_head = 4;
  int64_t n_kv_head = 2;
  int64_t n_embd = 128;
  int64_t block_size = 64;
  std::string norm = "rmsnorm";
  double norm_eps = 1e-5;  // Llama's and GPT-2's
  double alpha = -1;       // below zero: the norm's own
  std::string placement = "pre";
  std::string ffn = "swiglu";
  int64_t hidden = 0;  // 0: 8/3 of n_embd in whole 64s for swiglu, else 4 · n_embd
  std::string positions = "rope";
  double rope_base = 1e4;  // Su et al. 2021
  bool qk_norm = false;
  double softcap = 0;
  bool zero_init = false;
  bool tie_embeddings = true;
  bool bias = false;
  double dropout = 0;

  int64_t batch_size = 16;
  int64_t gradient_accumulation_steps = 1;
  int64_t max_iters = 1500;
  std::string optimizer = "adamw";
  double muon_lr = 0.02;
  double muon_momentum = 0.95;
  std::string schedule = "cosine";
  int64_t decay_iters = 400;
  double learning_rate = 3e-3;
  double min_lr = 3e-4;
  int64_t warmup_iters = 100;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double weight_decay = 0.1;
  bool decay_embeddings = true;
  double grad_clip = 1;
  std::string on_nan = "stop";
  bool anomaly = false;
  std::string products = "own";

  int64_t eval_interval = 250;
  int64_t eval_iters = 20;
  int64_t patience = 0;  // 0: all max_iters steps
  int64_t log_interval = 50;
  int64_t checkpoint_interval = 250;
  int64_t seeds = 1;
  int64_t keep = 2;  // so that there is one before the last, should that be damaged

  void fields(Fields& f) override;
  // Throws Error naming the flag whose value does not go with the others.
  void check_together() const;
  // The model for a tokenizer of that many tokens. Throws Error where vocab_size is less.
  LanguageModelConfig model(int64_t tokens) const;
};

// Presets of train_lm. nanoGPT's published CPU setting.
inline const std::string nanogpt_cpu =
    "--n_layer 4 --n_head 4 --n_kv_head 4 --n_embd 128 --block_size 64 --batch_size 12 --max_iters 2000 "
    "--optimizer adamw --schedule cosine --learning_rate 1e-3 --min_lr 1e-4 --warmup_iters 100 --beta1 0.9 "
    "--beta2 0.99 --weight_decay 0.1 --decay_embeddings=true --grad_clip 1 --norm layernorm --placement pre "
    "--ffn gelu --positions learned --qk_norm=false --bias=false --zero_init=false --softcap 0 --dropout 0 "
    "--tie_embeddings=true";
// The same size, text and steps; block, optimizer and schedule as they were found best.
inline const std::string nanogpt_cpu_best =
    nanogpt_cpu +
    " --norm rmsnorm --positions rope --ffn relu2 --qk_norm=true --zero_init=true --tie_embeddings=false "
    "--optimizer muon --muon_lr 0.02 --muon_momentum 0.95 --learning_rate 5e-3 --schedule linear --min_lr 0 "
    "--weight_decay 0";
// nanoGPT's setting for a GPU, its config/train_shakespeare_char.py.
inline const std::string babygpt =
    nanogpt_cpu +
    " --vocab_size 65 --n_layer 6 --n_head 6 --n_kv_head 6 --n_embd 384 --block_size 256 --batch_size 64 "
    "--max_iters 5000 --dropout 0.2";
// MiniMind's model of 25,829,888 parameters. The sizes are those of source 003; rates and clipping those of
// MiniMind's trainer/train_pretrain.py, its batches of 32 × 8 cut to what two cores see in an hour or two.
inline const std::string minimind =
    "--vocab_size 6400 --n_layer 8 --n_head 8 --n_kv_head 2 --n_embd 512 --block_size 512 --norm rmsnorm "
    "--norm_eps 1e-5 --placement pre --ffn swiglu --hidden 1408 --positions rope --rope_base 1e6 "
    "--qk_norm=false --bias=false --softcap 0 --dropout 0 --tie_embeddings=true --batch_size 8 "
    "--max_iters 1000 --learning_rate 5e-4 --min_lr 5e-5 --warmup_iters 50 --beta2 0.95 --grad_clip 1";

// --- Defaults that give way: a default or a preset's value that the user's own settings make impossible
// becomes one that fits, so that `train_lm --max_iters 40` works although the warm-up has 100 steps. What the
// user gave stays as it is, and is refused by LmConfig::check_together() where it cannot be.

// The names of the settings that the user gave, and a sentence for each other one that changed: "warmup_iters
// is 4 instead of 100, because max_iters is 40".
struct GivingWay {
  explicit GivingWay(const std::set<std::string>& names) : names_(names) {}
  bool given(const std::string& name) const { return names_.contains(name); }
  template <class T>
  void change(const char* name, T& value, T now, const char* cause, T is) {
    if (now == value) return;
    said.push_back(fmt::format("{} is {} instead of {}, because {} is {}", name, now, value, cause, is));
    value = now;
  }
  std::vector<std::string> said;

 private:
  const std::set<std::string>& names_;
};

// Key/value heads that divide the heads.
void fit_kv_heads(int64_t& n_kv_head, int64_t n_head, GivingWay& way);
// Returns the sentences.
std::vector<std::string> give_way(LmConfig& config, const std::set<std::string>& given);

}  // namespace isobar
