// The loss of a language model on a whole text.
//
//   const TextLoss loss = text_loss(model, tokens);
//   fmt::print("perplexity {:.3f}\n", std::exp(loss.mean()));
#pragma once

#include <span>

#include "language_model.h"

namespace isobar {

struct TextLoss {
  double nats = 0;  // of all tokens together
  int64_t tokens = 0;
  double mean() const { return nats / static_cast<double>(tokens); }
};

// Cross-entropy of all tokens but the first, each predicted once: windows of block_size tokens, one after the
// other, in evaluation (model.h). Throws Error for fewer than two tokens.
TextLoss text_loss(LanguageModel& model, std::span<const int32_t> tokens);

}  // namespace isobar
