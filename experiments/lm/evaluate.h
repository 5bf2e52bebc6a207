// The loss of a language model on fixed batches.
#pragma once

#include "../../data/text.h"
#include "../../nn/language_model.h"

namespace isobar {

// Mean cross-entropy in nats over `batches` random batches of `batch_size` blocks; the same ones for the same
// key. Leaves the model in training mode.
double mean_loss(Module& model, const TokenDataset& data, int64_t batches, int64_t batch_size,
                 const Rng& key);

}  // namespace isobar
