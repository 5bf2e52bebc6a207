// ModelStep: what the choice of the norm costs a whole model. A small language model with LayerNorm (weight
// and bias) and the same with RMSNorm take training steps, and generate, by turns.
#pragma once

#include "../../run/clock.h"

namespace isobar::speed {

struct ModelStep {
  struct Cost {
    double parameters, peak_mib;  // tensors at the peak of a step, alone in the process
  };
  Cost layernorm, rmsnorm;  // before the models that take turns exist: the peak counts all tensors
  Rounds rounds;            // a turn takes a few steps, of which the fastest counts

  ModelStep(uint64_t seed, double turn_seconds);
  // LayerNorm's time / RMSNorm's, of a training step and of inference.
  std::vector<double> step_quotients() const { return rounds.best_quotients(0, 2); }
  std::vector<double> inference_quotients() const { return rounds.best_quotients(1, 3); }
  // Tokens per second go to "timing", the size to "model".
  void publish(Run& run) const;
};

}  // namespace isobar::speed
