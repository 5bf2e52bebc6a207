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
    return dropout(x, p, mask_rng());
  }

 protected:
  static Rng mask_rng() {
    check(
        Tape::active() != nullptr,
        "dropout: in training the mask's key comes from the active tape, and there is none; call eval(model) "
        "or open a Tape");
    return Tape::active()->next_rng();
  }
};

// Dropout2d: zeroes whole channels of x (N, C, H, W), with probability p each (Tompson et al. 2015).
struct Dropout2d : Dropout {
  using Dropout::Dropout;

  Tensor forward(const Tensor& x) override {
    check(x.ndim() == 4, "dropout2d: wanted x (N, C, H, W), got {}", x.shape());
    if (!training() || p == 0) return x;
    return x * dropout(ones({x.size(0), x.size(1), 1, 1}, x.dtype()), p, mask_rng());
  }
};

}  // namespace isobar
