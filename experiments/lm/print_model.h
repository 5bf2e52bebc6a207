// What a language model is made of and what its parts cost (nn/model_costs.h), as a table.
#pragma once

#include <string>

#include "config.h"

namespace isobar {

// The tree as a table, with a line of totals for a step of config.batch_size sequences. The vocabulary is
// config.vocab_size, else the corpus' own. Throws Error as open_corpus does.
std::string print_model(const LmConfig& config);

}  // namespace isobar
