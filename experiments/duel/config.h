// Config: every knob of a duel.
#pragma once

#include "../lm/training/small_config.h"

namespace isobar::duel {

struct Config : HasFields {
  std::string a = "rmsnorm", b = "layernorm";
  std::string task = "shakespeare", corpus = "";
  std::string size = "small", optimizer = "adamw";
  // 3 % of the perplexity: the least that 25 pairs tell equals by, where their differences have a deviation of
  // 0.02, as those of the small size have.
  double margin = 0.03;
  int64_t max_pairs = 25;
  int64_t seeds = 1;
  double learning_rate = 0;
  int64_t steps = 250, n_layer = 4, width = 64, block_size = 64, batch_size = 8, eval_iters = 20;
  int64_t train_tokens = 0;
  std::string settings = "one";
  bool looks_closer = false;  // no field: whether trainings end with what Trained::closer has
  std::string shared = "";    // trainings of B (shared_trainings.h)
  double init_std = 0,
         embedding_std = 1;  // no fields: of the matrices' initial weights, 0: 1/√(3 width); of the embedding
  double share = 1;          // of the error rate of 1 %: a search divides it among its duels (ledger.h)

  void fields(Fields& f) override;
  // The sizes that `size` stands for, but those that the user gave.
  void take_size(const std::set<std::string>& given);
  // Without the user's word, the sixteen settings follow where there are any, and in no duel of a search or a table.
  void settle_settings(bool given);
  // Why the sixteen settings cannot follow this duel, as a refusal says it; "" where they can.
  std::string why_one_setting() const;
  // Throws Error for settings that do not go together.
  void check_together() const;
  // Of the language models: embedding of std 1, other matrices as PyTorch's Linear, unless a setting has others.
  TinyConfig tiny() const;
};

}  // namespace isobar::duel
