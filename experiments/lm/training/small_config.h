// TinyConfig: the setting of studies that train many small language models, each in seconds. Weights are
// drawn, batches chosen and losses evaluated alike for all models of one seed, which are compared in pairs.
#pragma once

#include "../../run/stats.h"
#include "corpus.h"
#include "train.h"

namespace isobar {

struct TinyConfig : HasFields {
  int64_t seeds = 3;
  std::string corpus = "";  // as in LmConfig
  int64_t n_head = 4;
  int64_t n_kv_head = 2;
  int64_t block_size = 64;
  int64_t batch_size = 8;
  int64_t warmup_iters = 0;
  double weight_decay = 0.1;
  double embedding_std = 1;  // 0.02 costs models without norms more than the choice of a norm does
  double init_std = 0.072;   // PyTorch's Linear of 64 inputs: 1/√(3 · 64)
  int64_t eval_iters = 20;   // validation batches

  void fields(Fields& f) override;
  // Everything as a configuration of train_lm, whose check_together() is to be called when the rest is set.
  LmConfig training(int64_t n_embd, int64_t n_layer, int64_t steps, double learning_rate) const;
  // The same for the model alone: LmConfig knows neither of the stds.
  LanguageModelConfig model(const LmConfig& training, int64_t vocabulary) const;
};

// The text and its windows. Must not move: the windows refer to the text. The validation part is cut in two:
// learning rates are chosen by losses on `tuning`, the first half, and `validation` is reported. Of the training
// part the first `train_tokens` are used; 0: all.
struct TinyText {
  Corpus corpus;
  TokenDataset train, tuning, validation;

  TinyText(const std::string& wanted, int64_t block_size)
      : TinyText(open_corpus(wanted, "char"), block_size) {}
  TinyText(Corpus opened, int64_t block_size, int64_t train_tokens = 0);
  TinyText(const TinyText&) = delete;
  TinyText& operator=(const TinyText&) = delete;
  int64_t vocab_size() const { return corpus.text.tokenizer->vocab_size(); }
  // The name of the text without its folder: "tinyshakespeare.txt", "synthetic".
  const std::string& name() const { return corpus.file.name; }
  // Loss on `validation`, in nats, of guessing every token by its share of the training part.
  double unigram_loss() const;
};

// Trains the model by the settings, from `rng`'s batches and masks. What it gained on the unigram loss, in nats;
// nothing where its loss is not finite.
double gain_of(LanguageModel& model, const LmConfig& training, const TinyText& text, const Rng& rng);

// Muon's rate is this many times AdamW's, as in train_lm: one number is searched for.
inline constexpr double muon_rate_over_adam_w = 0.02 / 3e-3;

// "pre.rmsnorm", "rezero.none", …: all of placement.norm that make sense.
Choices net_names();
// Sets both of a configuration, or of a Trial.
template <class T>
void set_net(T& of, const std::string& net) {
  of.placement = net.substr(0, net.find('.'));
  of.norm = net.substr(net.find('.') + 1);
}

}  // namespace isobar
