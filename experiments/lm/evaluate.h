// The loss of a language model on fixed batches. (On a whole text: nn/text_loss.h.)
#pragma once

#include "../../core/ranks.h"
#include "../../data/text.h"
#include "../../nn/language_model.h"

namespace isobar {

// Cross-entropy in nats per token; LanguageModel::loss of a model that is one.
Tensor loss_of(Module& model, const Batch& batch);

// Mean cross-entropy in nats over `batches` random batches of `batch_size` blocks; the same ones for the same
// rng. The model is in evaluation meanwhile. Ranks share the batches.
double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size, const Rng& rng,
                 Ranks& ranks = Ranks::alone());

}  // namespace isobar
