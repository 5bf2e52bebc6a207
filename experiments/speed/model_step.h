// ModelStep: what the choice of the norm costs a whole model. A small language model with LayerNorm (weight
// and bias) and the same with RMSNorm take training steps, and generate, by turns.
#pragma once

#include "clock.h"

namespace isobar::speed {

class ModelStep {
 public:
  // A turn takes a few steps, of which the fastest counts.
  ModelStep(uint64_t seed, double turn_seconds);
  void round() { rounds_.round(); }
  // LayerNorm's time / RMSNorm's, of the best round of each group: of a training step, and of inference.
  std::vector<std::vector<double>> best_quotients() const;
  // Keys "model.{step, inference}.layernorm_over_rmsnorm.best" (a value per group of rounds),
  // "model.parameters.saved_percent", "model.peak_mib.{layernorm, rmsnorm, saved_percent}": tensors at the
  // peak of a step, alone in the process. Tokens per second go to "timing", the size to "model".
  void publish(Run& run) const;

 private:
  struct Cost {
    double parameters, peak_mib;
  };
  static Cost cost_of(const char* norm, uint64_t seed);

  Cost layernorm_, rmsnorm_;  // before the models that take turns exist: the peak counts all tensors
  Rounds rounds_;
};

}  // namespace isobar::speed
