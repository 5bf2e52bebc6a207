// Fixup: a residual block that trains without norms (Zhang, Dauphin & Ma 2019).
//
//   y = x + scale · W2 relu(W1 (x + bias1) + bias2) + bias3
//
// W2 starts at 0, so the block starts as the identity. W1 starts as init::he_normal times branches^(−1/2):
// for L branches of m layers the paper's factor is L^(−1/(2m−2)), and m = 2 here. scale starts at 1, all
// biases at 0.
#pragma once

#include "activation.h"
#include "linear.h"

namespace isobar {

// x (…, width) → (…, width). scale and the biases are single numbers [1]; linear1 and linear2 have no bias.
struct Fixup : Module {
  Linear linear1, linear2;
  ReLU relu;
  Tensor scale, bias1, bias2, bias3;

  // `branches` is the number of such blocks in the network. hidden = 0 means width.
  Fixup(int64_t width, int64_t branches, const Rng& rng, int64_t hidden = 0);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

}  // namespace isobar
