// Philox numbers: a known answer, the normal quantile, draws in bulk and on threads, integers, keys. (All bits:
// spec/same_as_spec.cpp.)
#include "../../core/rng.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "../thread_counts.h"

namespace isobar::rng_test {

TEST_CASE("bits are those of Philox4x32-10") {
  // Random123's known answer for zeros, 6627e8d5 e169c58d bc57ac4c 9b00dbd8, the low word first.
  CHECK(Rng(0).bits(0) == 0xE169C58D6627E8D5u);
  CHECK(Rng(0).bits(1) == 0x9B00DBD8BC57AC4Cu);
  CHECK(Rng(0).uniform_at(0) == 0.8805201978886144);
  CHECK(Rng(0).uniform_at(1) == 0.6054818538799214);
}

TEST_CASE(
    "the normal quantile is the inverse of the distribution, in the middle, both tails, and at the seams") {
  // P(z) = erfc(−z / √2) / 2 by the C library. Seams of the three fits: |p − ½| = 0.425, and p = e⁻²⁵. A relative
  // error e of z is one of z² e of a small P, at most.
  for (const double p : {0.5, 0.25, 0.075, 0.0750000001, 0.001, 1e-6, 1e-10, 1.3887943864964e-11,
                         1.3887943864965e-11, 1e-12, 5.551115123125783e-17, 1e-100, 1e-300}) {
    CAPTURE(p);
    const double z = normal_quantile(p);
    CHECK(std::abs(std::erfc(-z / std::sqrt(2.0)) / 2 - p) <= 1e-15 * (1 + z * z) * p);
  }
  for (const double p : {0.75, 0.9250000001, 0.975, 0.999})
    CHECK(normal_quantile(p) == -normal_quantile(1 - p));
}

TEST_CASE("draws made many at a time are those made one by one, at every odd end") {
  const Rng rng(13);
  for (int64_t n : {1, 15, 16, 17, 63, 64, 65, 255, 257, 511, 513, 4095, 4097, 70'001}) {
    CAPTURE(n);
    const auto normals = rng.normal(Shape{n}, 0, 1, Dtype::f64).to_vector<double>();
    const auto uniforms = rng.uniform(Shape{n}, 0, 1, Dtype::f64).to_vector<double>();
    std::vector<double> later(n);
    rng.uniforms(1'000'000, later);
    int64_t different = 0;
    for (int64_t i = 0; i < n; ++i)
      different += (normals[i] != rng.normal_at(i)) + (uniforms[i] != rng.uniform_at(i)) +
                   (later[i] != rng.uniform_at(1'000'000 + i));
    CHECK(different == 0);
  }
}

TEST_CASE("the same key gives the same bits for 1, 2, 3 and 8 threads") {
  check_same_on_threads([] { return Rng(6).normal(Shape{100'001}).to_vector<float>(); });
}

TEST_CASE("integers below a bound are equally frequent") {
  // χ² with 9 degrees of freedom stays below 27.9 in 999 of 1000 samples.
  const auto x = Rng(9).integers(Shape{100'000}, 10).to_vector<int64_t>();
  std::vector<double> counts(10, 0);
  for (int64_t value : x) {
    REQUIRE(value >= 0);
    REQUIRE(value < 10);
    ++counts[value];
  }
  double chi_square = 0;
  for (double count : counts) chi_square += (count - 10'000) * (count - 10'000) / 10'000;
  CHECK(chi_square < 27.9);
  CHECK(Rng(9).below(1, 5) == 0);
  CHECK(Rng(9).below(uint64_t{1} << 63, 5) < uint64_t{1} << 63);
}

TEST_CASE("different names and numbers give different keys, the same ones the same") {
  const Rng rng(12);
  CHECK(rng.split("block3.fc1").key() == rng.split("block3.fc1").key());
  CHECK(rng.split(uint64_t{5}).key() == rng.split(uint64_t{5}).key());
  std::set<uint64_t> keys = {rng.key()};
  for (uint64_t i = 0; i < 5'000; ++i) {
    keys.insert(rng.split(i).key());
    keys.insert(rng.split(i | uint64_t{1} << 63).key());
    keys.insert(rng.split("layer" + std::to_string(i)).key());
  }
  CHECK(keys.size() == 15'001);  // a collision among so many 64-bit keys has probability 6e-12
  CHECK(rng.split("").key() != rng.key());
  CHECK(rng.split("ab").split("c").key() != rng.split("a").split("bc").key());
}

}  // namespace isobar::rng_test
