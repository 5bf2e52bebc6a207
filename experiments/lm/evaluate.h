// Using a language model: its loss on fixed batches, and text drawn from it.
#pragma once

#include <string>

#include "../../data/text.h"
#include "../../nn/language_model.h"

namespace isobar {

// Mean cross-entropy in nats over `batches` random batches of `batch_size` blocks; the same ones for the same
// key. Leaves the model in training mode.
double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size,
                 const Rng& key);

// `count` tokens after `prompt`, each drawn from the softmax of logits / temperature (> 0) over the last
// block_size tokens. Leaves the model in training mode.
std::vector<int32_t> sample(LanguageModel& model, std::vector<int32_t> prompt, int64_t count,
                            double temperature, const Rng& key);

// `text` shown safely on a terminal: control characters but newline, and bytes that are not UTF-8, become
// "�".
std::string printable(std::string_view text);

}  // namespace isobar
