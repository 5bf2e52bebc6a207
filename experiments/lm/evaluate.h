// The loss of a language model on fixed batches, and on a whole text.
#pragma once

#include "../../data/text.h"
#include "../../nn/language_model.h"

namespace isobar {

// Cross-entropy in nats per token; LanguageModel::loss of a model that is one.
Tensor loss_of(Module& model, const Batch& batch);

// Mean cross-entropy in nats over `batches` random batches of `batch_size` blocks; the same ones for the same
// rng. Leaves the model in training mode.
double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size,
                 const Rng& rng);

// Cross-entropy of all tokens but the first, each predicted once: windows of block_size tokens, one after the
// other. Leaves the model in training mode. Throws Error for fewer than two tokens.
struct TextLoss {
  double nats = 0;  // of all together
  int64_t tokens = 0;
  double mean() const { return nats / static_cast<double>(tokens); }
};
TextLoss text_loss(LanguageModel& model, std::span<const int32_t> tokens);

}  // namespace isobar
