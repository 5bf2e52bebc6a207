// The attention logits of a language model, q kᵀ / √D, from the queries and keys that its own modules
// returned. B batch, T time, H query heads, K key/value heads, D channels a head.
#pragma once

#include "../../../nn/lm/language_model.h"

namespace isobar {

// Of one layer: the largest over batch, heads and the pairs of places that the causal mask leaves.
struct LogitPeaks {
  double logit;   // |q·k| / √D
  double capped;  // |softcap(q·k / √D)|; the same as `logit` without a cap
  // No logit can be above √D · max|q_norm.weight| · max|k_norm.weight|, since RMSNorm leaves |q| ≤ √D
  // max|weight| and a rotation keeps lengths. Infinite without QK-norm.
  double bound;
  // The attention's output, built anew from these logits, may differ by so much of its largest number: by
  // rounding, or these are not the logits that the module used.
  double rebuild_error;

  template <class Visitor>
  void values(Visitor& f) {
    f("logit", logit), f("capped", capped), f("bound", bound), f("rebuild_error", rebuild_error);
  }
};

// One per layer, for symbols (B, T). The model is in evaluation meanwhile (nn/model.h). Throws Error unless
// the attention is causal GroupedQueryAttention.
std::vector<LogitPeaks> logit_peaks(LanguageModel& model, const Tensor& symbols);

}  // namespace isobar
