#include "fixup.h"

#include <cmath>

namespace isobar {
namespace {

Tensor first_weight(int64_t width, int64_t hidden, int64_t branches, const Rng& rng) {
  check(branches >= 1, "fixup: wanted at least one branch, got {}", branches);
  const double gain = init::he_gain / std::sqrt(static_cast<double>(branches));
  return init::he_normal({hidden, width}, rng.split("linear1").split("weight"), gain);
}

}  // namespace

Fixup::Fixup(int64_t width, int64_t branches, const Rng& rng, int64_t hidden)
    : linear1(first_weight(width, hidden > 0 ? hidden : width, branches, rng)),
      linear2(zeros({width, hidden > 0 ? hidden : width})),
      scale(ones({1}).set_trainable()),
      bias1(zeros({1}).set_trainable()),
      bias2(zeros({1}).set_trainable()),
      bias3(zeros({1}).set_trainable()) {}

Tensor Fixup::forward(const Tensor& x) {
  const Tensor hidden = relu(linear1(x + bias1) + bias2);
  return x + scale * linear2(hidden) + bias3;
}

void Fixup::fields(Fields& f) {
  f("linear1", linear1);
  f("relu", relu);
  f("linear2", linear2);
  f("scale", scale);
  f("bias1", bias1);
  f("bias2", bias2);
  f("bias3", bias3);
}

}  // namespace isobar
