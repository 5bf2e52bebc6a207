// Dropout: when it draws a mask, and which. The op: tests/spec.
#include <doctest/doctest.h>

#include "../../nn/dropout.h"
#include "../../nn/model.h"

namespace isobar::dropout_test {

TEST_CASE("dropout draws a new mask at each call, the same on a replay, and none in evaluation") {
  Dropout layer(0.25);
  const Tensor x = ones({1000});
  const auto two_calls = [&](uint64_t seed) {
    Tape tape({.rng = Rng(seed)});
    return std::pair(layer(x).to_vector<float>(), layer(x).to_vector<float>());
  };
  const auto [first, second] = two_calls(1);
  CHECK(first != second);
  CHECK(two_calls(1).first == first);
  CHECK(two_calls(1).second == second);
  CHECK(two_calls(2).first != first);
  const auto zeroed = std::count(first.begin(), first.end(), 0.0f);
  CHECK(std::abs(zeroed - 250) < 5 * std::sqrt(1000 * 0.25 * 0.75));  // five standard deviations
  eval(layer);
  CHECK(layer(x).to_vector<float>() == x.to_vector<float>());
}

}  // namespace isobar::dropout_test
