// The rules of verdicts: what each says of given seeds. How often they are wrong: verdict_rates_test.cpp.
#include "../../experiments/claims/rules.h"

#include <doctest/doctest.h>

namespace isobar::rules_test {

using namespace isobar::claims;
using doctest::Approx;

TEST_CASE("Student's quantiles are those of the tables") {
  // Fisher and Yates, Statistical Tables, table III; and the normal limit.
  CHECK(student_quantile(0.975, 1) == Approx(12.7062047364).epsilon(1e-9));
  CHECK(student_quantile(0.975, 2) == Approx(4.30265272991).epsilon(1e-9));
  CHECK(student_quantile(0.99, 4) == Approx(3.74694738798).epsilon(1e-9));
  CHECK(student_quantile(0.995, 9) == Approx(3.24983554402).epsilon(1e-9));
  CHECK(student_quantile(0.995, 29) == Approx(2.75638590367).epsilon(1e-9));
  CHECK(student_quantile(0.975, 100'000) == Approx(1.96).epsilon(1e-4));
  CHECK(student_quantile(0.01, 4) == Approx(-3.74694738798).epsilon(1e-9));
  for (const int64_t degrees : {1, 2, 7, 30, 300, 301, 1000})
    CHECK(student_probability(student_quantile(0.9, degrees), degrees) == Approx(0.9).epsilon(1e-10));
}

TEST_CASE("time is mean, and refuses where the machine was busy") {
  const Spread steady = spread_of(std::vector<double>{7.9, 8, 8.1, 8, 7.95}),
               wild = spread_of(std::vector<double>{0.3, 0.4, 10.5, 1.1, 1});
  const Predicate wanted{Rule::time, 7, infinity, true};
  CHECK(read(wanted, steady, 1).outcome == PartOutcome::holds);
  CHECK(read(wanted, steady, 1, 1, true).outcome == PartOutcome::busy);
  // Processes of an idle machine that disagree are too few.
  CHECK(read(wanted, wild, 1).outcome == PartOutcome::too_few_seeds);
  CHECK(read(wanted, wild, 1, 1, true).outcome == PartOutcome::busy);
  CHECK(read({Rule::time, 20, infinity, true}, steady, 1).outcome == PartOutcome::fails);
}

TEST_CASE("too few seeds say how many would do") {
  const Spread seeds = spread_of(std::vector<double>{0.9, 1.1, 1.3});
  const Reading open = read({Rule::mean, 1, infinity, false}, seeds, 1);
  CHECK(open.outcome == PartOutcome::too_few_seeds);
  // Mean 1.1, deviation 0.2, distance 0.1. The second look has a sixth of 1 %: t(1 − 0.01/6, n − 1) · 0.2 ≤
  // 0.1 √n first at n = 40 (t = 3.126). Of two bounds each has half of that.
  CHECK(seeds_needed({Rule::mean, 1, infinity, false}, seeds, 1) == 40);
  CHECK(seeds_for_mean(0.2, 0.1, 0.01 / 6) == 40);
  CHECK(seeds_needed({Rule::mean, 1, 9, false}, seeds, 1) == seeds_for_mean(0.2, 0.1, 0.01 / 12));
  CHECK(seeds_for_prediction(0.01) == 5);
  CHECK(seeds_for_prediction(0.01 / 8) == 7);
  // Inside is confirmed by enough seeds alone, outside is refuted by few.
  const Predicate printed{Rule::one_more_seed, 1, 1, false};
  CHECK(read(printed, seeds, 1).outcome == PartOutcome::too_few_seeds);
  CHECK(seeds_needed(printed, seeds, 1) == 5);
  CHECK(read({Rule::one_more_seed, 90, 90, false}, seeds, 1).outcome == PartOutcome::fails);
  CHECK(read(printed, spread_of(std::vector<double>{1}), 1).outcome == PartOutcome::too_few_seeds);
}

TEST_CASE("infinities keep their sign, and a NaN confirms nothing") {
  const double nan = std::nan("");
  const auto outcome = [](const Predicate& predicate, std::vector<double> values) {
    return read(predicate, spread_of(values), 1).outcome;
  };
  for (const Rule rule : {Rule::every_seed, Rule::mean, Rule::time, Rule::one_more_seed})
    for (const std::vector<double>& values :
         {std::vector<double>(20, nan), {nan, 1, 1.01, 0.99, 1}, {1, 1.01, infinity, nan}, {nan}})
      for (const Predicate& predicate : {Predicate{rule, -infinity, 2},
                                         {rule, 0.5, infinity},
                                         {rule, 0, 2},
                                         {rule, 1, 1},
                                         {rule, 0.5, infinity, true}})
        CHECK(outcome(predicate, values) == PartOutcome::fails);
  const Predicate every_most{Rule::every_seed, -infinity, 1}, every_least{Rule::every_seed, 0, infinity};
  const Predicate most{Rule::mean, -infinity, 1}, least{Rule::mean, 0, infinity};
  const std::vector<double> up{0.5, infinity, 0.25, 0.4}, down{0.5, -infinity, 0.25, 0.4},
      both{0.5, -infinity, infinity};
  CHECK(outcome(every_most, up) == PartOutcome::fails);
  CHECK(outcome(every_least, up) == PartOutcome::holds);
  CHECK(outcome(every_most, down) == PartOutcome::holds);
  CHECK(outcome(every_least, down) == PartOutcome::fails);
  CHECK(outcome(most, up) == PartOutcome::fails);
  CHECK(outcome(least, down) == PartOutcome::fails);
  for (const Predicate& bound : {most, least}) CHECK(outcome(bound, both) == PartOutcome::fails);
  // One infinite seed alone would make the mean pass: nothing is confirmed by it, nor by many.
  CHECK(outcome(least, up) == PartOutcome::not_normal);
  CHECK(outcome(most, down) == PartOutcome::not_normal);
  CHECK(outcome(least, {infinity, infinity}) == PartOutcome::not_normal);
  const Predicate printed{Rule::one_more_seed, 0.4, 0.4};
  CHECK(outcome(printed, up) == PartOutcome::not_normal);
  CHECK(outcome(printed, {infinity, -infinity, infinity}) == PartOutcome::fails);
}

TEST_CASE("seeds that are not normal are noticed") {
  const auto outcome = [](const Predicate& predicate, std::vector<double> values) {
    return read(predicate, spread_of(values), 1).outcome;
  };
  const Predicate mean{Rule::mean, 1, infinity}, small{Rule::mean, -infinity, 2e-8, true};
  // 0 has no logarithm.
  CHECK(outcome(small, {0, 1e-9, 1e-8, 1e-9, 1e-8}) == PartOutcome::not_normal);
  CHECK(outcome({Rule::one_more_seed, 10, 10, true}, {0, 1e-9, 1e-8}) == PartOutcome::not_normal);
  CHECK(seeds_needed(small, spread_of(std::vector<double>{0, 1e-9, 1e-8}), 1) == 0);
  // Equal values, or mostly equal ones, have no spread; every_seed takes them.
  CHECK(outcome(mean, std::vector<double>(40, 2)) == PartOutcome::not_normal);
  CHECK(outcome({Rule::one_more_seed, 2, 2}, std::vector<double>(40, 2)) == PartOutcome::not_normal);
  CHECK(outcome(mean, {2, 2, 2, 2.1, 2.3}) == PartOutcome::not_normal);
  CHECK(outcome({Rule::every_seed, 1, infinity}, std::vector<double>(3, 2)) == PartOutcome::holds);
  // Two values say nothing of their shape, three that two of them are one.
  CHECK(doubt_about(spread_of(std::vector<double>{1, 2}), false) == Doubt::none);
  CHECK(doubt_about(spread_of(std::vector<double>{1, 1, 2}), false) == Doubt::clusters);
  CHECK(doubt_about(spread_of(std::vector<double>{1, 1.2, 2}), false) == Doubt::none);
  const std::vector<double> two_clusters{1, 1.1, 1.2, 1.05, 0.95, 3, 3.1, 2.9, 3.05, 3.2};
  CHECK(doubt_about(spread_of(two_clusters), false) == Doubt::clusters);
  std::vector<double> skewed;
  for (int i = 0; i < 20; ++i) skewed.push_back(std::exp(0.2 * i));
  CHECK(doubt_about(spread_of(skewed), false) == Doubt::skewed);
  CHECK(doubt_about(spread_of(skewed), true) == Doubt::none);
  // From 10 seeds on a mean has an interval; a printed value is decided beyond all seeds by more than their
  // range, and never confirmed.
  CHECK(outcome({Rule::mean, 0, infinity}, two_clusters) == PartOutcome::holds);
  CHECK(outcome({Rule::mean, 1, infinity}, two_clusters) == PartOutcome::too_few_seeds);
  CHECK(outcome({Rule::mean, 6, infinity}, two_clusters) == PartOutcome::fails);
  CHECK(outcome({Rule::one_more_seed, 6, 6}, two_clusters) == PartOutcome::fails);
  CHECK(outcome({Rule::one_more_seed, 2, 2}, two_clusters) == PartOutcome::not_normal);
  // Of 5 to 9 seeds by more than ten times that.
  CHECK(outcome({Rule::mean, -38, infinity}, {1, 1.01, 1.02, 1.03, 5}) == PartOutcome::not_normal);
  CHECK(outcome({Rule::mean, -40, infinity}, {1, 1.01, 1.02, 1.03, 5}) == PartOutcome::holds);
  CHECK(outcome({Rule::mean, -1e9, infinity}, {1, 1, 5}) == PartOutcome::not_normal);
}

TEST_CASE("the mean of positive values may lie as far up as that of a log-normal quantity") {
  const Spread seeds = spread_of(std::vector<double>{1, 2, 4}),
               mirrored = spread_of(std::vector<double>{-4, -2, -1});
  // Logarithms 0, ln 2 and 2 ln 2: mean and deviation ln 2; t(0.95, 2) = 2.920.
  const double l = std::log(2), t = 2.91998558;
  const Range safe = safe_mean_interval(seeds, 0.05, false), student = mean_interval(seeds, 0.05, false);
  CHECK(safe.high == Approx(std::exp(l + l * l / 2 + t * (l / std::sqrt(3) + l * l / 2))));
  CHECK(safe.low == student.low);
  CHECK(safe_mean_interval(mirrored, 0.05, false).low == Approx(-safe.high));
  CHECK(safe_mean_interval(seeds, 0.05, true).high == mean_interval(seeds, 0.05, true).high);
}

TEST_CASE("a predicate that nothing can turn is recognised") {
  CHECK(cannot_fail({Rule::mean, -infinity, infinity, false}));
  CHECK(cannot_fail({Rule::every_seed, -infinity, std::numeric_limits<double>::max(), false}));
  CHECK_FALSE(cannot_fail({Rule::every_seed, -infinity, 1e300, false}));
  CHECK_FALSE(cannot_fail({Rule::one_more_seed, 0.3, 0.3, true}));
  CHECK(cannot_hold({Rule::every_seed, 2, 1, false}));
  CHECK_FALSE(cannot_hold({Rule::every_seed, 2, 2, false}));
}

TEST_CASE("spreads come back from their JSON") {
  const double inf = std::numeric_limits<double>::infinity();
  const Spread three =
      spread_from(with_named_infinities(to_json(spread_of(std::vector<double>{3, -inf, inf}))));
  CHECK(three.values == std::vector<double>{3, -inf, inf});
  CHECK(three.nonfinite == 2);
  CHECK_THROWS_WITH_AS(spread_from(Json{{"n", 3}, {"mean", 1.0}}),
                       doctest::Contains("run the study again with this version"), Error);
  const Spread spread = spread_of(std::vector<double>{1, 2, 4, 8.5});
  const Spread read_back = spread_from(with_named_infinities(to_json(spread)));
  CHECK(read_back.n == 4);
  CHECK(read_back.linear.mean == spread.linear.mean);
  CHECK(read_back.linear.sd == spread.linear.sd);
  CHECK(read_back.logarithm.mean == spread.logarithm.mean);
  CHECK(read_back.logarithm.sd == spread.logarithm.sd);
  CHECK(std::isnan(spread_from(to_json(spread_of(std::vector<double>{-1, 2}))).logarithm.mean));
  // By hand: mean 3.875, squares (8.265625 + 3.515625 + 0.015625 + 21.390625)/3 = 11.0625.
  CHECK(spread.linear.mean == 3.875);
  CHECK(spread.linear.sd == Approx(std::sqrt(11.0625)));
}

}  // namespace isobar::rules_test
