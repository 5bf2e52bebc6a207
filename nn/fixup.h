// Fixup: a residual block that trains without norms (Zhang, Dauphin & Ma 2019).
//
//   y = x + scale · W2 relu(W1 (x + bias1) + bias2) + bias3
//
// W2 starts at 0, so the block starts as the identity. W1 starts as init::he_normal times branches^(−1/2):
// for L branches of m layers the paper's factor is L^(−1/(2m−2)), and m = 2 here. scale starts at 1, all
// biases at 0.
#pragma once

#include <cmath>

#include "activation.h"
#include "linear.h"

namespace isobar {

// x (…, width) → (…, width). scale and the biases are single numbers [1]; linear1 and linear2 have no bias.
struct Fixup : Module {
  Linear linear1, linear2;
  ReLU relu;
  Tensor scale, bias1, bias2, bias3;

  // `branches` is the number of such blocks in the network. hidden = 0 means width.
  Fixup(int64_t width, int64_t branches, const Rng& rng, int64_t hidden = 0)
      : linear1(first_weight(width, hidden > 0 ? hidden : width, branches, rng)),
        linear2(zeros({width, hidden > 0 ? hidden : width})),
        scale(ones({1}).set_trainable()),
        bias1(zeros({1}).set_trainable()),
        bias2(zeros({1}).set_trainable()),
        bias3(zeros({1}).set_trainable()) {}

  Tensor forward(const Tensor& x) override {
    const Tensor h = relu(linear1(x + bias1) + bias2);
    return x + scale * linear2(h) + bias3;
  }
  void fields(Fields& f) override {
    f("linear1", linear1);
    f("relu", relu);
    f("linear2", linear2);
    f("scale", scale);
    f("bias1", bias1);
    f("bias2", bias2);
    f("bias3", bias3);
  }

 private:
  static Tensor first_weight(int64_t width, int64_t hidden, int64_t branches, const Rng& rng) {
    check(branches >= 1, "fixup: wanted at least one branch, got {}", branches);
    const double gain = init::he_gain / std::sqrt(static_cast<double>(branches));
    return init::he_normal({hidden, width}, rng.split("linear1").split("weight"), gain);
  }
};

}  // namespace isobar
