#include "rules.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "../harness/table.h"

namespace isobar::claims {
namespace {

// What the look may spend on each bound of the part. The shares of all looks sum to 1: 1/(j (j + 1)) = 1/j − 1/(j + 1).
double error_of(const Predicate& predicate, int64_t parts, int64_t look) {
  const auto j = static_cast<double>(look);
  const bool two_bounds = std::isfinite(predicate.low) && std::isfinite(predicate.high);
  const double bounds = two_bounds && predicate.rule != Rule::one_more_seed ? 2 : 1;
  return error_rate / static_cast<double>(parts) / (j * (j + 1)) / bounds;
}

bool any(const Spread& seeds, double value) { return std::ranges::count(seeds.values, value) > 0; }

Reading read_every_seed(const Predicate& predicate, const Spread& seeds) {
  const Range wanted{predicate.low, predicate.high};
  const auto [least, greatest] = std::ranges::minmax(seeds.values);
  const bool holds = wanted.contains(least) && wanted.contains(greatest);
  return {holds ? PartOutcome::holds : PartOutcome::fails, {least, greatest}, seeds.n};
}

// The mean of infinities of one sign is that infinity, of both signs none. On the side of a finite bound that is beyond
// it; on the other side it is a mean that a single seed made, and no rule confirms by one.
PartOutcome outcome_of_infinities(const Predicate& predicate, const Spread& seeds) {
  const bool above = any(seeds, infinity), below = any(seeds, -infinity);
  const bool beyond = (above && predicate.high < infinity) || (below && predicate.low > -infinity);
  return beyond || (above && below) ? PartOutcome::fails : PartOutcome::not_normal;
}

Reading read_mean(const Predicate& predicate, const Spread& seeds, double error) {
  const Range interval = mean_interval(seeds, error, predicate.log);
  Reading reading{PartOutcome::too_few_seeds, interval, seeds.n};
  if (seeds.nonfinite > 0)
    reading.outcome = outcome_of_infinities(predicate, seeds);
  else if (interval.high < predicate.low || interval.low > predicate.high)
    reading.outcome = PartOutcome::fails;
  else if (interval.low >= predicate.low && interval.high <= predicate.high)
    reading.outcome = PartOutcome::holds;
  return reading;
}

// `error` is that of the look; how many seeds are enough to hold is a matter of length, not of looks.
Reading read_one_more_seed(const Predicate& predicate, const Spread& seeds, double error, int64_t enough) {
  const Range interval = prediction_interval(seeds, error, predicate.log);
  Reading reading{PartOutcome::holds, interval, seeds.n};
  if (seeds.nonfinite > 0)
    reading.outcome = seeds.n == 0 ? PartOutcome::fails : PartOutcome::not_normal;
  else if (seeds.n > 1 && !interval.contains(predicate.low))
    reading.outcome = PartOutcome::fails;
  else if (seeds.n < enough)
    reading.outcome = PartOutcome::too_few_seeds;
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

Reading read(const Predicate& predicate, const Spread& seeds, int64_t parts, int64_t look, bool busy) {
  if (seeds.values.empty()) return {PartOutcome::too_few_seeds, {-infinity, infinity}, 0};
  if (std::ranges::any_of(seeds.values, [](double value) { return std::isnan(value); }))
    return {PartOutcome::fails, {seeds.min, seeds.max}, seeds.n};
  if (predicate.rule == Rule::every_seed) return read_every_seed(predicate, seeds);
  if (predicate.log && seeds.n > 0 && !std::isfinite(seeds.logarithm.mean)) {
    // A value of 0 has no logarithm. Where all seeds have it, that says enough.
    if (seeds.min != seeds.max) return {PartOutcome::not_normal, {seeds.min, seeds.max}, seeds.n};
    Predicate linear = predicate;
    linear.log = false;
    return read(linear, seeds, parts, look, busy);
  }
  const double error = error_of(predicate, parts, look);
  if (predicate.rule == Rule::one_more_seed)
    return read_one_more_seed(predicate, seeds, error,
                              seeds_for_prediction(error_rate / static_cast<double>(parts)));
  Reading reading = read_mean(predicate, seeds, error);
  // Rounds that disagree are the mark of a busy machine too.
  if (predicate.rule == Rule::time && (busy || reading.outcome == PartOutcome::too_few_seeds))
    reading.outcome = PartOutcome::busy;
  return reading;
}

int64_t seeds_needed(const Predicate& predicate, const Spread& seeds, int64_t parts, int64_t look) {
  if (seeds.nonfinite > 0) return 0;
  if (predicate.rule == Rule::one_more_seed)
    return seeds_for_prediction(error_rate / static_cast<double>(parts));
  const SampleMoments& moments = seeds.moments(predicate.log);
  double distance = infinity;  // of the nearer bound
  for (const double bound : {predicate.low, predicate.high}) {
    if (!std::isfinite(bound) || (predicate.log && bound <= 0)) continue;
    distance = std::min(distance, std::abs(moments.mean - (predicate.log ? std::log(bound) : bound)));
  }
  return seeds_for_mean(moments.sd, distance, error_of(predicate, parts, look + 1));
}

std::string exact_number_text(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::trunc(value);
  return whole ? fmt::format("{:.0f}", value) : number_text(value);
}

namespace {

struct Phrases {
  const char *every_seed, *mean, *time, *one_more, *exactly, *at_most, *at_least, *within, *between, *below,
      *above;
};
constexpr std::array<Phrases, 2> phrases = {
    {{"every seed", "mean", "quotient of times", "{} as one more seed", "{} exactly {}", "{} at most {}",
      "{} at least {}", "{} within ±{}", "{} {} to {}", "{} below {}", "{} above {}"},
     {"每个种子", "均值", "耗时之比", "{} 可作为又一个种子的值", "{}恰为 {}", "{}不超过 {}", "{}不小于 {}",
      "{}在 ±{} 之内", "{}在 {} 至 {} 之间", "{}小于 {}", "{}大于 {}"}}};

}  // namespace

double bound_shown(double bound) {
  for (const double x : {0.0, 1.0})
    if (bound == just_above(x) || bound == just_below(x)) return x;
  return bound;
}

std::string text_of(const Predicate& p, Language language) {
  const Phrases& words = phrases[static_cast<size_t>(language)];
  const bool below = bound_shown(p.high) != p.high, above = bound_shown(p.low) != p.low;
  const std::string low = exact_number_text(bound_shown(p.low)),
                    high = exact_number_text(bound_shown(p.high));
  if (p.rule == Rule::one_more_seed) return fmt::format(fmt::runtime(words.one_more), low);
  const char* who = p.rule == Rule::every_seed ? words.every_seed
                    : p.rule == Rule::time     ? words.time
                                               : words.mean;
  if (p.low == p.high) return fmt::format(fmt::runtime(words.exactly), who, low);
  if (p.low == -infinity) return fmt::format(fmt::runtime(below ? words.below : words.at_most), who, high);
  if (p.high == infinity) return fmt::format(fmt::runtime(above ? words.above : words.at_least), who, low);
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
