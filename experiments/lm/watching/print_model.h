// What a language model is made of and what its parts cost (model_costs.h), as a table.
#pragma once

#include "../training/config.h"

namespace isobar {

// The tree as a table, with a line of totals for a step of config.batch_size sequences. The vocabulary is
// config.vocab_size, else the corpus' own. Throws Error as open_corpus does.
std::string print_model(const LmConfig& config);

// --- The tape of a model's first step, as a page: train_lm --tape-page FILE.

// Writes the page (autograd/check/tape_page.h) of forward and backward on one sequence of the corpus, the model
// as before training with seed 0. Returns a line for the user. Throws as open_corpus and tape_page do.
std::string write_page_of_step(const LmConfig& config, const std::string& path);

}  // namespace isobar
