// SkipInit, ReZero and Fixup: where they start, and their formulas.
#include "../../nn/nn.h"
#include "../same_tensors.h"

namespace isobar::residual_test {

TEST_CASE("SkipInit, ReZero and Fixup start as the identity") {
  const Tensor x = Rng(1).normal({3, 8});
  const auto branch = [] { return std::make_unique<Linear>(8, 8, Rng(2)); };
  SkipInit skip_init(branch());
  ReZero re_zero(branch());
  Fixup fixup(8, 100, Rng(3));
  CHECK(skip_init(x).to_vector<float>() == x.to_vector<float>());
  CHECK(re_zero(x).to_vector<float>() == x.to_vector<float>());
  CHECK(fixup(x).to_vector<float>() == x.to_vector<float>());
}

TEST_CASE("Fixup's first weight has He's std over the root of the number of branches") {
  Fixup fixup(64, 100, Rng(1));
  CHECK(fixup.linear1.weight.shape() == Shape{64, 64});  // `hidden` is the width
  // √(2/64) / √100, within five standard errors of 4096 numbers.
  CHECK(moments_of(fixup.linear1.weight).std ==
        doctest::Approx(std::sqrt(2.0 / 64) / 10).epsilon(0.055).scale(0));
  CHECK(Fixup(4, 1, Rng(1), 6).linear1.weight.shape() == Shape{6, 4});
}

TEST_CASE("SkipInit, ReZero and Fixup are their formulas once their numbers have moved") {
  const Rng rng(1);
  const Tensor x = rng.split("x").normal({3, 4});
  const auto branch = [] { return std::make_unique<Linear>(4, 4, Rng(2)); };
  SkipInit skip_init(branch(), 0.25);
  ReZero re_zero(branch());
  assign(re_zero.resweight, full({1}, 0.5));
  const Tensor f = (*branch())(x);
  check_values(skip_init(x), (x + 0.25 * f).to_vector<double>(), 1e-5);
  check_values(re_zero(x), (x + 0.5 * f).to_vector<double>(), 1e-5);

  // Of width 1: y = x + scale · w2 · relu(w1 · (x + b1) + b2) + b3
  Fixup fixup(1, 1, rng);
  const auto set = [](Tensor& parameter, double value) { assign(parameter, full(parameter.shape(), value)); };
  set(fixup.linear1.weight, 3);
  set(fixup.linear2.weight, 0.5);
  set(fixup.scale, 4);
  set(fixup.bias1, 0.25);
  set(fixup.bias2, 1);
  set(fixup.bias3, -2);
  CHECK(fixup(full({1, 1}, 2)).item() == 2 + 4 * 0.5 * (3 * 2.25 + 1) - 2);
}

}  // namespace isobar::residual_test
