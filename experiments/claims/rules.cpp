#include "rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "../harness/table.h"

namespace isobar::claims {
namespace {

Reading read_every_seed(const Predicate& predicate, const Spread& seeds) {
  const Range wanted{predicate.low, predicate.high};
  const double most = seeds.nonfinite > 0 ? infinity : seeds.max;
  const bool holds = wanted.contains(std::isnan(seeds.min) ? infinity : seeds.min) && wanted.contains(most);
  return {holds ? PartOutcome::holds : PartOutcome::fails, {seeds.min, most}, seeds.n};
}

Reading read_mean(const Predicate& predicate, const Spread& seeds, double error) {
  const Range interval = mean_interval(seeds, error, predicate.log);
  const bool below = interval.high<predicate.low, above = interval.low> predicate.high;
  const bool inside = interval.low >= predicate.low && interval.high <= predicate.high;
  Reading reading{PartOutcome::too_few_seeds, interval, seeds.n};
  if (seeds.nonfinite > 0)  // their mean is infinite; those that are finite can still pass a lower bound
    reading.outcome =
        predicate.high == infinity && (seeds.n == 0 || inside) ? PartOutcome::holds : PartOutcome::fails;
  else if (below || above)
    reading.outcome = PartOutcome::fails;
  else if (inside)
    reading.outcome = PartOutcome::holds;
  return reading;
}

Reading read_one_more_seed(const Predicate& predicate, const Spread& seeds, double error) {
  const Range interval = prediction_interval(seeds, error, predicate.log);
  Reading reading{PartOutcome::holds, interval, seeds.n};
  if (seeds.n > 1 && !interval.contains(predicate.low)) {
    reading.outcome = PartOutcome::fails;
  } else if (seeds.nonfinite > 0 || seeds.n < seeds_for_prediction(error)) {
    reading.outcome = PartOutcome::too_few_seeds;
  }
  return reading;
}

// Values at and beyond all bounds, with what the largest numbers give.
std::vector<double> extreme_values(const Predicate& predicate) {
  constexpr double largest = std::numeric_limits<double>::max();
  std::vector<double> values{-largest, -1, 0, 1, largest};
  for (const double bound : {predicate.low, predicate.high})
    if (std::isfinite(bound)) {
      values.push_back(bound);
      for (const double away : {-infinity, infinity}) values.push_back(std::nextafter(bound, away));
    }
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values;
}

// As many equal seeds as every rule takes: the outcome then is that of the value alone.
PartOutcome outcome_at(const Predicate& predicate, double value) {
  const std::vector<double> seeds(100, value);
  return read(predicate, spread_of(seeds), 1).outcome;
}

}  // namespace

Reading read(const Predicate& predicate, const Spread& seeds, int64_t parts, bool busy) {
  const double error = error_rate / static_cast<double>(parts);
  if (predicate.log && !std::isfinite(seeds.logarithm.mean) && predicate.rule != Rule::every_seed) {
    // A value of 0 has no logarithm. Where all seeds have it, or none is finite, that says enough; else nothing follows.
    if (seeds.n > 0 && seeds.min != seeds.max)
      return {PartOutcome::too_few_seeds, {seeds.min, seeds.max}, seeds.n};
    Predicate linear = predicate;
    linear.log = false;
    return read(linear, seeds, parts, busy);
  }
  switch (predicate.rule) {
    case Rule::every_seed:
      return read_every_seed(predicate, seeds);
    case Rule::one_more_seed:
      return read_one_more_seed(predicate, seeds, error);
    case Rule::time:
    case Rule::mean:
      break;
  }
  Reading reading = read_mean(predicate, seeds, error);
  // Rounds that disagree are the mark of a busy machine too.
  if (predicate.rule == Rule::time && (busy || reading.outcome == PartOutcome::too_few_seeds))
    reading.outcome = PartOutcome::busy;
  return reading;
}

int64_t seeds_needed(const Predicate& predicate, const Spread& seeds, int64_t parts) {
  const double error = error_rate / static_cast<double>(parts);
  if (seeds.nonfinite > 0) return 0;
  if (predicate.rule == Rule::one_more_seed) return seeds_for_prediction(error);
  const SampleMoments& moments = seeds.moments(predicate.log);
  double distance = infinity;  // of the nearer bound
  for (const double bound : {predicate.low, predicate.high}) {
    if (!std::isfinite(bound) || (predicate.log && bound <= 0)) continue;
    distance = std::min(distance, std::abs(moments.mean - (predicate.log ? std::log(bound) : bound)));
  }
  return seeds_for_mean(moments.sd, distance, error);
}

std::string exact_number_text(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::trunc(value);
  return whole ? fmt::format("{:.0f}", value) : number_text(value);
}

namespace {

struct Phrases {
  const char *every_seed, *mean, *time, *one_more, *exactly, *at_most, *at_least, *within, *between;
};
constexpr std::array<Phrases, 2> phrases = {
    {{"every seed", "mean", "quotient of times", "{} as one more seed", "{} exactly {}", "{} at most {}",
      "{} at least {}", "{} within ±{}", "{} {} to {}"},
     {"每个种子", "均值", "耗时之比", "{} 可作为又一个种子的值", "{}恰为 {}", "{}不超过 {}", "{}不小于 {}",
      "{}在 ±{} 之内", "{}在 {} 至 {} 之间"}}};

}  // namespace

std::string text_of(const Predicate& p, Language language) {
  const Phrases& words = phrases[static_cast<size_t>(language)];
  const std::string low = exact_number_text(p.low), high = exact_number_text(p.high);
  if (p.rule == Rule::one_more_seed) return fmt::format(fmt::runtime(words.one_more), low);
  const char* who = p.rule == Rule::every_seed ? words.every_seed
                    : p.rule == Rule::time     ? words.time
                                               : words.mean;
  if (p.low == p.high) return fmt::format(fmt::runtime(words.exactly), who, low);
  if (p.low == -infinity) return fmt::format(fmt::runtime(words.at_most), who, high);
  if (p.high == infinity) return fmt::format(fmt::runtime(words.at_least), who, low);
  if (p.low == -p.high) return fmt::format(fmt::runtime(words.within), who, high);
  return fmt::format(fmt::runtime(words.between), who, low, high);
}

bool cannot_fail(const Predicate& predicate) {
  const std::vector<double> values = extreme_values(predicate);
  return std::none_of(values.begin(), values.end(),
                      [&](double v) { return outcome_at(predicate, v) == PartOutcome::fails; });
}

bool cannot_hold(const Predicate& predicate) {
  const std::vector<double> values = extreme_values(predicate);
  return std::none_of(values.begin(), values.end(),
                      [&](double v) { return outcome_at(predicate, v) == PartOutcome::holds; });
}

}  // namespace isobar::claims
