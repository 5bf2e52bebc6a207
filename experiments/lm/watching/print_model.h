// What a language model is made of, and what its parts cost before it is trained: parameters, memory, products
// of matrices; as numbers, and as a table.
#pragma once

#include "../training/config.h"

namespace isobar {

// One module, with all modules within it.
struct ModuleCost {
  std::string path, type;
  std::string shapes;           // of its own parameters: "weight [512, 128]"
  int64_t parameters;           // tied ones count where they come first
  std::optional<int64_t> kept;  // bytes kept for backward, one sequence; none inside of attention and mlp
  double flops;                 // a token of training takes these in matrix products
};
struct ModelCosts {
  std::vector<ModuleCost> modules;  // parents before children; the model itself first, without the loss
  int64_t loss_kept;                // bytes that the loss keeps, but for gradients of weights
  int64_t kept;                     // of the whole step of one sequence, the loss included
};

// Kept bytes are measured: one sequence of block_size tokens goes forward on a tape, and what is allocated
// between the output before a part and its own, and is still there before the backward, belongs to the part.
// (A sum of the residual stream belongs to the part whose output is next: the norm that reads it, or the
// block. Blocks of memory come in size classes, up to a quarter larger than what was asked for, and the
// tape's own lists are among them.)
//
// Flops are 6 a weight of a matrix product (2 forward, 4 backward) and 12 T C a layer for q kᵀ and its
// product with v, without the half that causality saves: Chowdhery et al. 2022, appendix B.
//
// No other thread may allocate tensors meanwhile. Throws Error where the model is observed already.
ModelCosts costs_of(LanguageModel& model);

// The tree as a table, with a line of totals for a step of config.batch_size sequences. The vocabulary is
// config.vocab_size, else the corpus' own. Throws Error as open_corpus does.
std::string print_model(const LmConfig& config);

// --- The tape of a model's first step, as a page: train_lm --tape-page FILE.

// Writes the page (autograd/check/tape_page.h) of forward and backward on one sequence of the corpus, the model
// as before training with seed 0. Returns a line for the user. Throws as open_corpus and tape_page do.
std::string write_page_of_step(const LmConfig& config, const std::string& path);

}  // namespace isobar
