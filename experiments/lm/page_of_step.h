// The tape of a model's first step, as a page: train_lm --tape-page FILE.
#pragma once

#include <string>

#include "config.h"

namespace isobar {

// Writes the page (autograd/tape_page.h) of forward and backward on one sequence of the corpus, the model as it is
// before training with seed 0. Returns a line for the user. Throws Error as open_corpus and tape_page do.
std::string write_page_of_step(const LmConfig& config, const std::string& path);

}  // namespace isobar
