// Philox numbers: known answers, moments, independence of streams, of threads and of call order.
#include "../../core/rng.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../thread_counts.h"

namespace isobar::rng_test {

// The correlation of two samples of equal size; its standard error for independent ones is 1 / √n.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (size_t i = 0; i < x.size(); ++i) {
    const double dx = x[i] - mean_x, dy = y[i] - mean_y;
    xx += dx * dx, yy += dy * dy, xy += dx * dy;
  }
  return xy / std::sqrt(xx * yy);
}

// Means of x, x², x³, x⁴.
std::vector<double> moments(const std::vector<double>& x) {
  std::vector<double> sums(4, 0);
  for (double value : x) {
    double power = 1;
    for (double& sum : sums) sum += (power *= value) / static_cast<double>(x.size());
  }
  return sums;
}

TEST_CASE("bits are those of Philox4x32-10") {
  // Random123's known answer for zeros, 6627e8d5 e169c58d bc57ac4c 9b00dbd8, the low word first. (Other keys and
  // counters: spec/same_as_spec.cpp.)
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

TEST_CASE("a number in braces is a shape of one dimension") {
  CHECK(Rng(1).normal({8}).shape() == Shape{8});
  CHECK(Rng(1).uniform({8}).shape() == Shape{8});
}

TEST_CASE("the same key gives the same bits for 1, 2, 3 and 8 threads") {
  check_same_on_threads([] { return Rng(6).normal(Shape{100'001}).to_vector<float>(); });
}

TEST_CASE("uniform draws fill the open interval evenly") {
  // Var(xᵏ) = 1 / (2k + 1) − 1 / (k + 1)². Four standard errors.
  const int64_t n = 1'000'000;
  const auto x = Rng(8).uniform(Shape{n}, 0, 1, Dtype::f64).to_vector<double>();
  const std::vector<double> m = moments(x);
  for (int k = 1; k <= 4; ++k) {
    CAPTURE(k);
    const double mean = 1.0 / (k + 1), variance = 1.0 / (2 * k + 1) - mean * mean;
    CHECK(std::abs(m[k - 1] - mean) < 4 * std::sqrt(variance / static_cast<double>(n)));
  }
  CHECK(*std::min_element(x.begin(), x.end()) > 0);
  CHECK(*std::max_element(x.begin(), x.end()) < 1);
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

TEST_CASE("streams split from one key are independent of each other and of their parent") {
  const int64_t n = 100'000;
  const Rng rng(10);
  const auto draw = [&](const Rng& stream) {
    return stream.normal(Shape{n}, 0, 1, Dtype::f64).to_vector<double>();
  };
  const auto parent = draw(rng), a = draw(rng.split("a")), b = draw(rng.split("b"));
  const auto zero = draw(rng.split(uint64_t{0})), one = draw(rng.split(uint64_t{1}));
  const auto aa = draw(rng.split("a").split("a")), next_seed = draw(Rng(11).split("a"));
  const double bound = 4 / std::sqrt(static_cast<double>(n));  // four standard errors
  CHECK(std::abs(correlation(parent, a)) < bound);
  CHECK(std::abs(correlation(a, b)) < bound);
  CHECK(std::abs(correlation(zero, one)) < bound);
  CHECK(std::abs(correlation(parent, zero)) < bound);
  CHECK(std::abs(correlation(a, aa)) < bound);
  CHECK(std::abs(correlation(a, next_seed)) < bound);
  // Neighbours within a stream: both words of a block, and blocks in a row.
  for (int64_t lag : {1, 2}) {
    const std::vector<double> early(a.begin(), a.end() - lag), late(a.begin() + lag, a.end());
    CHECK(std::abs(correlation(early, late)) < bound);
  }
}

TEST_CASE("different names and numbers give different keys, the same ones the same") {
  const Rng rng(12);
  CHECK(rng.split("block3.fc1").key() == rng.split("block3.fc1").key());
  CHECK(rng.split(uint64_t{5}).key() == rng.split(uint64_t{5}).key());
  std::set<uint64_t> keys = {rng.key()};
  for (uint64_t i = 0; i < 50'000; ++i) {
    keys.insert(rng.split(i).key());
    keys.insert(rng.split(i | uint64_t{1} << 63).key());
    keys.insert(rng.split("layer" + std::to_string(i)).key());
  }
  CHECK(keys.size() == 150'001);  // a collision among so many 64-bit keys has probability 6e-10
  CHECK(rng.split("").key() != rng.key());
  CHECK(rng.split("ab").split("c").key() != rng.split("a").split("bc").key());
}

}  // namespace isobar::rng_test
