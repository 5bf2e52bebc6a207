// The rules of verdicts keep the error rate that they state, for any number of seeds: each is simulated.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <utility>

#include "../../core/rng.h"
#include "../../experiments/claims/rules.h"
#include "../verdict_rates/cells.h"

namespace isobar::verdict_rates_test {

using namespace isobar::claims;

constexpr int64_t trials = 10'000;
constexpr double first_look = error_rate / 2;  // what the first look at a part may spend
// 180 seeds, in .ci/long rest, take four times as long as all others.
std::vector<int64_t> seed_counts() {
  if (std::getenv("ISOBAR_THOROUGH") != nullptr) return {3, 5, 10, 20, 180};
  return {3, 5, 10, 20};
}

// A trial: n seeds, and one value more that a text may have printed. All are normal, or, with `log`,
// log-normal with a deviation of a decade.
struct Sample {
  Spread seeds;
  double printed;
};
// The trials with n seeds, which all tests share.
const std::vector<Sample>& samples(int64_t n, bool log) {
  static std::map<std::pair<int64_t, bool>, std::vector<Sample>> drawn;
  std::vector<Sample>& all = drawn[{n, log}];
  const Rng rng = Rng(7).split("rules").split(n);
  for (int64_t i = std::ssize(all); i < trials; ++i) {
    std::vector<double> values = rng.split(i).normal({n + 1}, 0, 1, Dtype::f64).to_vector<double>();
    if (log)
      for (double& value : values) value = std::pow(10, value);
    const double printed = values.back();
    values.pop_back();
    all.push_back({spread_of(values), printed});
  }
  return all;
}
void simulate(int64_t n, bool log, const std::function<void(const Sample&)>& look) {
  for (const Sample& sample : samples(n, log)) look(sample);
}

// The share of trials in which a predicate, made for each, has this outcome.
double share_of(PartOutcome outcome, int64_t n, bool log,
                const std::function<Predicate(const Sample&)>& predicate) {
  int64_t count = 0;
  simulate(n, log, [&](const Sample& sample) {
    count += read(predicate(sample), sample.seeds, 1).outcome == outcome;
  });
  return static_cast<double>(count) / trials;
}
double share_of(PartOutcome outcome, int64_t n, const Predicate& predicate) {
  return share_of(outcome, n, predicate.log, [&](const Sample&) { return predicate; });
}

// Four standard errors of a share p over the trials: one check in 16,000 fails by chance, and the numbers are
// fixed.
double allowed(double p) { return 4 * std::sqrt(p * (1 - p) / trials); }

TEST_CASE("one_more_seed refutes a true printed value less than once in two hundred first looks") {
  for (const bool log : {false, true})
    for (const int64_t n : seed_counts()) {
      CAPTURE(n);
      CAPTURE(log);
      CHECK(share_of(PartOutcome::fails, n, log, [&](const Sample& sample) {
              return Predicate{Rule::one_more_seed, sample.printed, sample.printed, log};
            }) < first_look);
    }
}

TEST_CASE("a table of eight true printed values is refuted at most once in a hundred") {
  for (const int64_t n : seed_counts()) {
    int64_t refuted = 0, in_table = 0, row = 0;
    simulate(n, false, [&](const Sample& sample) {
      const Predicate predicate{Rule::one_more_seed, sample.printed, sample.printed, false};
      in_table += read(predicate, sample.seeds, 8).outcome == PartOutcome::fails;
      if (++row % 8 != 0) return;
      refuted += in_table > 0;
      in_table = 0;
    });
    CAPTURE(n);
    const double tables = trials / 8.0;
    CHECK(static_cast<double>(refuted) / tables < error_rate + 4 * std::sqrt(error_rate / tables));
  }
}

TEST_CASE(
    "just outside of its bound mean holds once in four hundred first looks at most, and fails inside as often") {
  for (const bool log : {false, true})
    for (const int64_t n : seed_counts()) {
      CAPTURE(n);
      CAPTURE(log);
      const double truth = log ? 1 : 0;  // the mean, or the geometric one
      for (const PartOutcome outcome : {PartOutcome::holds, PartOutcome::fails}) {
        const double share = share_of(outcome, n, {Rule::mean, truth, infinity, log});
        CHECK(share < first_look / 2 + allowed(first_look / 2));
        // Of fewer than 10 seeds the interval is Student's, and exact.
        if (n < seeds_for_skewness) CHECK(share > first_look / 2 - allowed(first_look / 2));
      }
    }
}

TEST_CASE("two nets whose difference is the margin are said not to differ once in four hundred first looks") {
  for (const int64_t n : seed_counts()) {
    CAPTURE(n);
    // "Above −1", within 1 of that: the true mean of 0 lies at the end of the margin.
    CHECK(share_of(PartOutcome::equal, n, {Rule::mean, just_above(-1), infinity, false, 1}) <
          first_look / 2 + allowed(first_look / 2));
  }
  CHECK(share_of(PartOutcome::equal, 20, {Rule::mean, just_above(0), infinity, false, 2}) > 0.9);
}

TEST_CASE("the median lies in its interval, whatever the shape of the values") {
  for (const int64_t n : seed_counts()) {
    CAPTURE(n);
    for (const PartOutcome outcome : {PartOutcome::holds, PartOutcome::fails})
      CHECK(share_of(outcome, n, {Rule::median, 0, infinity}) < first_look / 2 + allowed(first_look / 2));
  }
}

TEST_CASE("two nets that differ by the margin are called equal once in four hundred first looks at most") {
  for (const int64_t n : seed_counts()) {
    CAPTURE(n);
    // Bounds of −2 … 0: the true mean of 0 lies at the margin.
    CHECK(share_of(PartOutcome::holds, n, {Rule::mean, -2, 0}) < first_look / 2 + allowed(first_look / 2));
  }
  // And with enough seeds those that do not differ are: 40 seeds against a margin of one deviation.
  CHECK(share_of(PartOutcome::holds, 40, {Rule::mean, -1, 1}) > 0.95);
}

TEST_CASE("a narrow interval that holds is missed on either side once in two hundred first looks at most") {
  for (const int64_t n : seed_counts()) {
    CAPTURE(n);
    CHECK(share_of(PartOutcome::fails, n, {Rule::mean, -1e-3, 1e-3}) < first_look + allowed(first_look));
  }
}

TEST_CASE("every_seed states a share of seeds that is too high once in a hundred") {
  // Where exactly that share of all seeds lies within the bounds, all n of a sample do with probability
  // 1/100.
  for (const int64_t n : seed_counts()) {
    const double share = std::pow(error_rate, 1 / static_cast<double>(n)), bound = normal_quantile(share);
    CAPTURE(n);
    CHECK(std::abs(share_of(PartOutcome::holds, n, {Rule::every_seed, -infinity, bound}) - error_rate) <
          allowed(error_rate));
  }
}

// A few cells of the table that verdict_rates prints.
TEST_CASE("rules keep their error rate over four looks at seeds of every shape") {
  constexpr int64_t few = 500;
  for (const SeedShape& values : shapes())
    for (const int64_t seeds : {3, 10, 20}) {
      if (seeds < values.promised_from) continue;
      for (const Asked asked : {Asked::at_least, Asked::printed}) {
        const Rates one = rates(asked, values, seeds, few);
        CAPTURE(values.name);
        CAPTURE(seeds);
        CHECK(one.refuted.back() <= most_of(few));
        CHECK(one.confirmed.back() <= most_of(few));
        if (values.name.starts_with("normal")) CHECK(one.not_judged == 0);
      }
    }
}

}  // namespace isobar::verdict_rates_test
