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
  // 0.1 √n first at n = 40 (t = 3.126). Both ends of an interval share that.
  CHECK(seeds_for_mean(0.2, 0.1, 0.01 / 6) == 40);
  CHECK(seeds_needed({Rule::mean, 1, infinity, false}, seeds, 1) == seeds_for_mean(0.2, 0.1, 0.01 / 12));
  CHECK(seeds_needed({Rule::mean, 1, 9, false}, seeds, 1) == seeds_for_mean(0.2, 0.1, 0.01 / 12));
  // Within 0.4 of 1 it is decided where the interval ends 0.3 beyond the mean, which takes fewer.
  CHECK(seeds_needed({Rule::mean, just_above(1), infinity, false, 0.4}, seeds, 1) ==
        seeds_for_mean(0.2, 0.3, 0.01 / 12));
  // Skewed values have an interval that is longer than Student's on one side, and more seeds shorten that one.
  const Spread skewed =
      spread_of(std::vector<double>{1.01, 1.02, 1.03, 1.02, 1.01, 1.04, 1.02, 1.03, 1.01, 1.3});
  const Predicate at_most{Rule::mean, -infinity, 1.2};
  REQUIRE(read(at_most, skewed, 1).outcome == PartOutcome::too_few_seeds);
  CHECK(seeds_needed(at_most, skewed, 1) > skewed.n);
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

TEST_CASE("values that are all one, or have no logarithm, have no mean with an interval") {
  const auto outcome = [](const Predicate& predicate, std::vector<double> values) {
    return read(predicate, spread_of(values), 1).outcome;
  };
  const Predicate mean{Rule::mean, 1, infinity}, small{Rule::mean, -infinity, 2e-8, true};
  CHECK(outcome(small, {0, 1e-9, 1e-8, 1e-9, 1e-8}) == PartOutcome::not_normal);
  CHECK(outcome({Rule::one_more_seed, 10, 10, true}, {0, 1e-9, 1e-8}) == PartOutcome::not_normal);
  CHECK(seeds_needed(small, spread_of(std::vector<double>{0, 1e-9, 1e-8}), 1) == 0);
  CHECK(outcome(mean, std::vector<double>(40, 2)) == PartOutcome::not_normal);
  CHECK(outcome({Rule::one_more_seed, 2, 2}, std::vector<double>(40, 2)) == PartOutcome::not_normal);
  CHECK(outcome({Rule::every_seed, 1, infinity}, std::vector<double>(3, 2)) == PartOutcome::holds);
  CHECK(outcome({Rule::median, 1, infinity}, std::vector<double>(40, 2)) == PartOutcome::holds);
}

TEST_CASE(
    "the interval of a mean is Student's, and from 10 seeds on at least that, longer on the side of the tail") {
  const Spread few = spread_of(std::vector<double>{1, 2, 4});
  CHECK(safe_mean_interval(few, 0.05, false).high == mean_interval(few, 0.05, false).high);
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) values.push_back(std::exp(0.2 * i));
  const Spread skewed = spread_of(values);
  const Range safe = safe_mean_interval(skewed, 0.005, false), student = mean_interval(skewed, 0.005, false);
  CHECK(safe.low == student.low);
  CHECK(safe.high > student.high + (student.high - student.low) / 10);
  for (double& value : values) value = -value;
  CHECK(safe_mean_interval(spread_of(values), 0.005, false).low == Approx(-safe.high));
}

TEST_CASE("better has three outcomes: better, worse, and equal within the margin") {
  const auto outcome = [](double at, double margin) {
    const std::vector<double> values{at - 0.01, at, at + 0.01, at - 0.005, at + 0.005};
    return read({Rule::mean, just_above(0), infinity, false, margin}, spread_of(values), 1).outcome;
  };
  CHECK(outcome(1, 0.1) == PartOutcome::holds);
  CHECK(outcome(-1, 0.1) == PartOutcome::fails);
  CHECK(outcome(0.001, 0.1) == PartOutcome::equal);
  CHECK(outcome(0.001, 0) == PartOutcome::too_few_seeds);
  CHECK(outcome(0.001, 0.01) == PartOutcome::too_few_seeds);
  // A sure difference that is smaller than the margin is none.
  CHECK(outcome(0.05, 0) == PartOutcome::holds);
  CHECK(outcome(0.05, 0.1) == PartOutcome::equal);
  CHECK(outcome(-0.05, 0.1) == PartOutcome::equal);
  CHECK(outcome(0.05, 0.06) == PartOutcome::holds);
  const Spread count = spread_of(std::vector<double>{0.0003});
  CHECK(read({Rule::every_seed, just_above(0), infinity, false, 0.01}, count, 1).outcome ==
        PartOutcome::equal);
  CHECK(read({Rule::every_seed, just_above(0), infinity}, count, 1).outcome == PartOutcome::holds);
}

TEST_CASE("medians and shares have the intervals of the tables") {
  // Of 20 values the 4th and the 17th: P(at most 3 of 20 below) = 0.0013, P(at most 4) = 0.0059 > 0.005.
  std::vector<double> values;
  for (int i = 1; i <= 20; ++i) values.push_back(i);
  const Range median = median_interval(spread_of(values), 0.005);
  CHECK(median.low == 4);
  CHECK(median.high == 17);
  CHECK(median_interval(spread_of(std::vector<double>{1, 2, 3}), 0.005).high == infinity);
  // Clopper and Pearson 1934: of 10 none, 0 to 1 − 0.025^(1/10) = 0.3085; of 10 five, 0.1871 to 0.8129.
  CHECK(share_interval(0, 10, 0.025).low == 0);
  CHECK(share_interval(0, 10, 0.025).high == Approx(0.30850).epsilon(1e-4));
  CHECK(share_interval(5, 10, 0.025).low == Approx(0.18709).epsilon(1e-4));
  CHECK(share_interval(5, 10, 0.025).high == Approx(0.81291).epsilon(1e-4));
  // Three of five nets learn: nothing is decided.
  const Spread learn = spread_of(std::vector<double>{0.004, 0.058, 0.56, 0.91, 0.92});
  const Reading reading = read({Rule::median, 0.5, infinity}, learn, 1);
  CHECK(reading.outcome == PartOutcome::too_few_seeds);
  CHECK(reading.counted == 3);
}

TEST_CASE("rungs are pooled by random effects with Hartung and Knapp's interval") {
  // By hand: rungs of means 0, 2 and 4 with variances of the mean of 1: Q = 8, τ² = (8 − 2)/2 = 3, weights 1/4,
  // mean 2, factor (4 + 0 + 4)/4/2 = 1, variance 1 · 4/3; t(0.975, 2) = 4.3027.
  std::vector<Spread> rungs;
  for (const double mean : {0.0, 2.0, 4.0})
    rungs.push_back(spread_of(std::vector<double>{mean - 1, mean + 1}));  // variance 2, of the mean 1
  const Pooled pooled = pooled_mean(rungs, 0.025);
  CHECK(pooled.mean == Approx(2));
  CHECK(pooled.interval.high == Approx(2 + 4.30265 * std::sqrt(4.0 / 3)).epsilon(1e-5));
  CHECK(read_rungs({Rule::mean, -9, infinity}, rungs).outcome == PartOutcome::too_few_seeds);
  CHECK(read_rungs({Rule::mean, -20, infinity}, rungs).outcome == PartOutcome::holds);
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
