#include "rules.h"

#include "../run/table.h"

namespace isobar::claims {
namespace {

// What the look may spend on each bound. All looks' shares sum to 1: 1/(j (j + 1)) = 1/j − 1/(j + 1).
double error_of(const Predicate& predicate, int64_t parts, int64_t look) {
  const auto j = static_cast<double>(look);
  const bool two_bounds = std::isfinite(predicate.low) && std::isfinite(predicate.high);
  const double bounds = two_bounds && predicate.rule != Rule::one_more_seed ? 2 : 1;
  return error_rate / static_cast<double>(parts) / (j * (j + 1)) / bounds;
}

Range bounds_of(const Predicate& predicate) { return {predicate.low, predicate.high}; }

bool any(const Spread& seeds, double value) { return std::ranges::count(seeds.values, value) > 0; }

Reading read_every_seed(const Predicate& predicate, const Spread& seeds) {
  const Range wanted = bounds_of(predicate);
  const auto [least, greatest] = std::ranges::minmax(seeds.values);
  const bool holds = wanted.contains(least) && wanted.contains(greatest);
  return {holds ? PartOutcome::holds : PartOutcome::fails, {least, greatest}, seeds.n};
}

// The mean of infinities of one sign is that infinity, of both signs none. On the side of a finite bound that
// is beyond it; on the other side it is a mean that a single seed made, and no rule confirms by one.
PartOutcome outcome_of_infinities(const Predicate& predicate, const Spread& seeds) {
  if (predicate.rule == Rule::one_more_seed)
    return seeds.n == 0 ? PartOutcome::fails : PartOutcome::not_normal;
  const bool above = any(seeds, infinity), below = any(seeds, -infinity);
  const bool beyond = (above && predicate.high < infinity) || (below && predicate.low > -infinity);
  return beyond || (above && below) ? PartOutcome::fails : PartOutcome::not_normal;
}

PartOutcome outcome_of_mean(const Predicate& predicate, const Range& interval) {
  if (interval.high < predicate.low || interval.low > predicate.high) return PartOutcome::fails;
  const bool inside = interval.low >= predicate.low && interval.high <= predicate.high;
  return inside ? PartOutcome::holds : PartOutcome::too_few_seeds;
}

// How many seeds are enough to hold is a matter of the interval's length, not of looks.
PartOutcome outcome_of_printed(const Predicate& predicate, const Range& interval, const Spread& seeds,
                               int64_t parts) {
  if (!interval.contains(predicate.low)) return PartOutcome::fails;
  const bool enough = seeds.n >= seeds_for_prediction(error_rate / static_cast<double>(parts));
  return enough ? PartOutcome::holds : PartOutcome::too_few_seeds;
}

// Of finite values, which have logarithms where the rule takes those.
Reading read_finite(const Predicate& predicate, const Spread& seeds, Doubt doubt, int64_t parts,
                    double error) {
  const bool printed = predicate.rule == Rule::one_more_seed;
  Reading reading{
      .outcome = PartOutcome::not_normal, .interval = {seeds.min, seeds.max}, .n = seeds.n, .doubt = doubt};
  if (doubt == Doubt::none) {
    reading.interval = printed ? safe_prediction_interval(seeds, error, predicate.log)
                               : safe_mean_interval(seeds, error, predicate.log);
    reading.outcome = printed ? outcome_of_printed(predicate, reading.interval, seeds, parts)
                              : outcome_of_mean(predicate, reading.interval);
    reading.assumes_normal = seeds.n < seeds_that_show_shape && reading.outcome != PartOutcome::too_few_seeds;
    return reading;
  }
  const bool shaped = doubt == Doubt::skewed || doubt == Doubt::clusters;
  if (shaped && !printed && seeds.n >= seeds_for_skewness) {
    reading.interval = skewed_mean_interval(seeds, error, predicate.log);
    reading.outcome = outcome_of_mean(predicate, reading.interval);
    return reading;
  }
  const Range far = beyond_all(seeds);
  const PartOutcome outcome = outcome_of_mean(predicate, far);
  const bool decided = outcome == PartOutcome::fails || (outcome == PartOutcome::holds && !printed);
  if (decided) reading.outcome = outcome, reading.interval = far, reading.far_bound = true;
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

}  // namespace

Reading read(const Predicate& predicate, const Spread& seeds, int64_t parts, int64_t look, bool busy) {
  if (seeds.values.empty()) return {PartOutcome::too_few_seeds, {-infinity, infinity}, 0};
  if (std::ranges::any_of(seeds.values, [](double value) { return std::isnan(value); }))
    return {PartOutcome::fails, {seeds.min, seeds.max}, seeds.n};
  if (predicate.rule == Rule::every_seed) return read_every_seed(predicate, seeds);
  const Doubt doubt = doubt_about(seeds, predicate.log);
  if (doubt == Doubt::infinite)
    return {outcome_of_infinities(predicate, seeds), {seeds.min, seeds.max}, seeds.n, doubt};
  Reading reading = read_finite(predicate, seeds, doubt, parts, error_of(predicate, parts, look));
  if (predicate.rule == Rule::time && busy) reading.outcome = PartOutcome::busy;
  return reading;
}

int64_t seeds_needed(const Predicate& predicate, const Spread& seeds, int64_t parts, int64_t look) {
  const Reading now = read(predicate, seeds, parts, look);
  if (now.outcome != PartOutcome::too_few_seeds) return 0;
  if (predicate.rule == Rule::one_more_seed)
    return seeds_for_prediction(error_rate / static_cast<double>(parts));
  if (seeds.n < 2) return 0;
  const Range interval = now.interval;
  const auto scaled = [&](double value) { return predicate.log ? std::log(value) : value; };
  const double mean = seeds.moments(predicate.log).mean;
  double distance = infinity;  // of the mean to the nearer bound
  double half = 0;             // and to the interval's end on that side
  for (const double bound : {predicate.low, predicate.high}) {
    if (!std::isfinite(bound) || (predicate.log && bound <= 0)) continue;
    const double away = scaled(bound) - mean;
    if (std::abs(away) >= distance) continue;
    distance = std::abs(away);
    half = std::abs(scaled(away < 0 ? interval.low : interval.high) - mean);
  }
  // The deviation that gives Student's interval this length.
  const double t = student_quantile(1 - error_of(predicate, parts, look), seeds.n - 1);
  const double sd = half / t * std::sqrt(static_cast<double>(seeds.n));
  return seeds_for_mean(sd, distance, error_of(predicate, parts, look + 1));
}

Phrase far_miss(const Predicate& predicate, const Spread& seeds) {
  const auto& [rule, low, high, log] = predicate;
  const double margin = (high - low) / 2, away = std::max(low - seeds.max, seeds.min - high);
  const bool measured = seeds.n > 0 && seeds.nonfinite == 0 && std::isfinite(margin) && margin > 0;
  if (!measured || rule == Rule::one_more_seed || away <= 10 * margin) return {};
  const Phrase missed{"every seed misses by more than ten times the margin",
                      "每个种子偏离界限都超过余量的十倍"};
  std::vector<Range> others{{low + 1, high + 1}, {low - 1, high - 1}};
  // Around 0, percent would allow anything, and an inverse has no bounds.
  if (low * high > 0)
    others.insert(others.end(), {{100 * low, 100 * high}, {low / 100, high / 100}, {1 / high, 1 / low}});
  for (const Range& meant : others) {
    if (!meant.contains(seeds.median)) continue;
    const std::string from = number_text(meant.low), to = number_text(meant.high);
    const bool around_0 = from == "-" + to;
    return missed + filled({"; did you mean {}?", "；是否应为 {}？"},
                           around_0 ? "within = " + to : fmt::format("between = [{}, {}]", from, to));
  }
  return missed;
}

std::string exact_number_text(double value) {
  const bool whole = std::abs(value) < 1e15 && value == std::trunc(value);
  return whole ? fmt::format("{:.0f}", value) : number_text(value);
}

double bound_shown(double bound) {
  for (const double x : {0.0, 1.0})
    if (bound == just_above(x) || bound == just_below(x)) return x;
  return bound;
}

Phrase text_of(const Predicate& p) {
  const bool below = bound_shown(p.high) != p.high, above = bound_shown(p.low) != p.low;
  const std::string low = exact_number_text(bound_shown(p.low)),
                    high = exact_number_text(bound_shown(p.high));
  if (p.rule == Rule::one_more_seed) return filled({"{} as one more seed", "{} 可作为又一个种子的值"}, low);
  const Phrase of_rule[] = {{"every seed", "每个种子"},
                            {"mean", "均值"},
                            {},
                            {"quotient of times", "耗时之比"}},
               &who = of_rule[static_cast<size_t>(p.rule)];
  if (p.low == p.high) return filled({"{} exactly {}", "{}恰为 {}"}, who, low);
  if (p.low == -infinity && below) return filled({"{} below {}", "{}小于 {}"}, who, high);
  if (p.low == -infinity) return filled({"{} at most {}", "{}不超过 {}"}, who, high);
  if (p.high == infinity && above) return filled({"{} above {}", "{}大于 {}"}, who, low);
  if (p.high == infinity) return filled({"{} at least {}", "{}不小于 {}"}, who, low);
  if (p.low == -p.high) return filled({"{} within ±{}", "{}在 ±{} 之内"}, who, high);
  return filled({"{} {} to {}", "{}在 {} 至 {} 之间"}, who, low, high);
}

bool cannot_fail(const Predicate& predicate) {
  return std::ranges::all_of(extreme_values(predicate),
                             [&](double v) { return bounds_of(predicate).contains(v); });
}

bool cannot_hold(const Predicate& predicate) {
  return std::ranges::none_of(extreme_values(predicate),
                              [&](double v) { return bounds_of(predicate).contains(v); });
}

}  // namespace isobar::claims
