// Dropout, op and layer: when it draws a mask, and which.
#include <doctest/doctest.h>

#include "../../nn/dropout.h"
#include "../../nn/model.h"
#include "../small_tensors.h"

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

TEST_CASE("dropout keeps the mean, zeroes the promised share and repeats with its key") {
  const Tensor x = ones({100000});
  const Tensor y = dropout(x, 0.25, Rng(3));
  int64_t zeroed = 0, kept = 0;
  for (float v : y.to_vector<float>()) {
    zeroed += v == 0;
    kept += v == 1 / 0.75f;
  }
  CHECK(zeroed + kept == 100000);
  // Six standard deviations of a binomial count with n = 100000, p = 0.25.
  CHECK(std::abs(zeroed - 25000) < 6 * std::sqrt(100000 * 0.25 * 0.75));
  CHECK(dropout(x, 0.25, Rng(3)).to_vector<float>() == y.to_vector<float>());
  CHECK(dropout(x, 0.25, Rng(4)).to_vector<float>() != y.to_vector<float>());
}

}  // namespace isobar::dropout_test
