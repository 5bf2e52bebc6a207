#include "../../data/loader.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace isobar::permutation_test {

std::vector<int64_t> elements(const Permutation& order) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < order.size(); ++i) all.push_back(order(i));
  return all;
}

TEST_CASE("permutation holds every element once, for many sizes") {
  std::vector<int64_t> sizes{1000, 1023, 1024, 1025, 4097, 60000};
  for (int64_t size = 0; size <= 130; ++size) sizes.push_back(size);
  for (const int64_t size : sizes) {
    CAPTURE(size);
    std::vector<int64_t> all = elements(Permutation(size, Rng(3)));
    std::sort(all.begin(), all.end());
    bool complete = true;
    for (int64_t i = 0; i < size; ++i) complete = complete && all[i] == i;
    CHECK(complete);
  }
}

// Stores nothing that grows with the size: an implementation that does could not even begin here.
TEST_CASE("permutation costs the same for ten elements and for 2^62") {
  static_assert(sizeof(Permutation) <= 64);
  const int64_t size = (int64_t{1} << 62) + 12345;
  const Permutation order(size, Rng(4));
  std::set<int64_t> seen;
  for (int64_t i = 0; i < 1000; ++i) {
    seen.insert(order(i));
    seen.insert(order(size - 1 - i));
  }
  CHECK(seen.size() == 2000);
  CHECK(*seen.begin() >= 0);
  CHECK(*seen.rbegin() < size);
}

// Chi-square over keys, n − 1 degrees of freedom: mean n − 1, std √(2(n − 1)); five of them are allowed.
TEST_CASE("permutation puts every element first equally often") {
  constexpr int keys = 20000;
  for (const int64_t size : {2, 3, 5, 7, 12, 33}) {
    CAPTURE(size);
    std::vector<double> first(size, 0.0);
    for (int k = 0; k < keys; ++k) first[Permutation(size, Rng(5).split(k))(0)] += 1;
    double chi_square = 0;
    const double expected = static_cast<double>(keys) / size;
    for (const double count : first) chi_square += (count - expected) * (count - expected) / expected;
    CHECK(chi_square < size - 1 + 5 * std::sqrt(2.0 * (size - 1)));
  }
}

// In a uniformly random order of n, the number of neighbours i, i + 1 that stay neighbours is close to
// Poisson with mean 1; over 200 orders the mean varies by 1/√200 = 0.07; four of them are allowed.
TEST_CASE("permutation separates neighbours") {
  double successors = 0;
  for (int k = 0; k < 200; ++k) {
    const std::vector<int64_t> all = elements(Permutation(1000, Rng(6).split(k)));
    for (size_t i = 0; i + 1 < all.size(); ++i) successors += all[i + 1] == all[i] + 1;
  }
  CHECK(successors / 200 == doctest::Approx(1).epsilon(0.14));
}

TEST_CASE("permutation refuses a negative size and a position outside") {
  CHECK_THROWS_WITH_AS(Permutation(-1, Rng(1)), "permutation: wanted a size of at least 0, got -1", Error);
  CHECK_THROWS_WITH_AS(Permutation(5, Rng(1))(5), "permutation: index 5 is outside of 0 … 4", Error);
  CHECK_THROWS_WITH_AS(Permutation(5, Rng(1))(-1), "permutation: index -1 is outside of 0 … 4", Error);
}

}  // namespace isobar::permutation_test
