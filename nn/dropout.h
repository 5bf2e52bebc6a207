// Dropout: in training, zeroes each element with probability p and scales the others by 1/(1 − p); the
// identity in evaluation (Srivastava et al. 2014).
#pragma once

#include "../autograd/tape.h"
#include "module.h"

namespace isobar {

// The mask is a function of the tape's rng, the module's path and the number of the call on the tape, so a
// replayed step draws the same masks. Throws Error in training without an active tape.
struct Dropout : Module {
  double p;

  explicit Dropout(double probability) : p(probability) {
    check(p >= 0 && p < 1, "dropout: wanted a probability in [0, 1), got {}", p);
  }

  Tensor forward(const Tensor& x) override {
    if (!training() || p == 0) return x;
    check(
        Tape::active() != nullptr,
        "dropout: in training the mask's key comes from the active tape, and there is none; call eval(model) "
        "or open a Tape");
    return dropout(x, p, Tape::active()->next_rng());
  }
};

}  // namespace isobar
