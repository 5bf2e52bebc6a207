#include "rules.h"

#include "../run/table.h"

namespace isobar::claims {
namespace {

// What the look may spend on each end of the interval. All looks' shares sum to 1: 1/(j (j + 1)) = 1/j − 1/(j + 1).
// The intervals of shape.h take what one end may spend, but for that of one more seed, which takes both.
double error_of(const Predicate& predicate, int64_t sharing, int64_t look) {
  const auto j = static_cast<double>(look);
  const double ends = predicate.rule == Rule::one_more_seed ? 1 : 2;
  return error_rate / static_cast<double>(sharing) / (j * (j + 1)) / ends;
}

Range bounds_of(const Predicate& predicate) { return {predicate.low, predicate.high}; }

bool any(const Spread& seeds, double value) { return std::ranges::count(seeds.values, value) > 0; }

// Whether the interval lies within the margin of the one bound: then there is no difference, on whichever side it lies.
bool is_equal(const Predicate& predicate, const Range& interval) {
  const double bound = bound_shown(predicate.low == -infinity ? predicate.high : predicate.low);
  return predicate.margin > 0 && interval.low >= bound - predicate.margin &&
         interval.high <= bound + predicate.margin;
}

Reading read_every_seed(const Predicate& predicate, const Spread& seeds) {
  const Range wanted = bounds_of(predicate);
  const auto [least, greatest] = std::ranges::minmax(seeds.values);
  const bool holds = wanted.contains(least) && wanted.contains(greatest);
  const PartOutcome outcome = is_equal(predicate, {least, greatest}) ? PartOutcome::equal
                              : holds                                ? PartOutcome::holds
                                                                     : PartOutcome::fails;
  return {outcome, {least, greatest}, seeds.n};
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

// How many seeds are enough to hold is a matter of the interval's length, not of looks.
PartOutcome outcome_of_printed(const Predicate& predicate, const Range& interval, const Spread& seeds,
                               int64_t sharing) {
  if (!interval.contains(predicate.low)) return PartOutcome::fails;
  const bool enough = seeds.n >= seeds_for_prediction(error_rate / static_cast<double>(sharing));
  return enough ? PartOutcome::holds : PartOutcome::too_few_seeds;
}

// Of finite values that are not all one, which have logarithms where the rule takes those.
Reading read_finite(const Predicate& predicate, const Spread& seeds, int64_t sharing, double error) {
  Reading reading{.outcome = PartOutcome::not_normal, .interval = {}, .n = seeds.n};
  if (predicate.rule == Rule::one_more_seed) {
    reading.interval = safe_prediction_interval(seeds, error, predicate.log);
    reading.outcome = outcome_of_printed(predicate, reading.interval, seeds, sharing);
  } else {
    reading.interval = safe_mean_interval(seeds, error, predicate.log);
    reading.outcome = outcome_of_interval(predicate, reading.interval);
  }
  reading.assumes_normal = seeds.n < seeds_for_skewness && reading.outcome != PartOutcome::too_few_seeds;
  return reading;
}

// Infinities, equal values and clusters have a median as well.
Reading read_median(const Predicate& predicate, const Spread& seeds, double error) {
  Reading reading{
      .outcome = PartOutcome::not_normal, .interval = median_interval(seeds, error), .n = seeds.n};
  reading.outcome = outcome_of_interval(predicate, reading.interval);
  reading.counted =
      std::ranges::count_if(seeds.values, [&](double value) { return bounds_of(predicate).contains(value); });
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

PartOutcome outcome_of_interval(const Predicate& predicate, const Range& interval) {
  if (is_equal(predicate, interval)) return PartOutcome::equal;
  if (interval.high < predicate.low || interval.low > predicate.high) return PartOutcome::fails;
  if (interval.low >= predicate.low && interval.high <= predicate.high) return PartOutcome::holds;
  return PartOutcome::too_few_seeds;
}

Reading read(const Predicate& predicate, const Spread& seeds, int64_t sharing, int64_t look, bool busy) {
  if (seeds.values.empty()) return {PartOutcome::too_few_seeds, {-infinity, infinity}, 0};
  if (std::ranges::any_of(seeds.values, [](double value) { return std::isnan(value); }))
    return {PartOutcome::fails, {seeds.min, seeds.max}, seeds.n};
  if (predicate.rule == Rule::every_seed) return read_every_seed(predicate, seeds);
  const double error = error_of(predicate, sharing, look);
  if (predicate.rule == Rule::median) return read_median(predicate, seeds, error);
  const Doubt doubt = doubt_about(seeds, predicate.log);
  if (doubt == Doubt::infinite)
    return {outcome_of_infinities(predicate, seeds), {seeds.min, seeds.max}, seeds.n, doubt};
  if (doubt != Doubt::none) return {PartOutcome::not_normal, {seeds.min, seeds.max}, seeds.n, doubt};
  Reading reading = read_finite(predicate, seeds, sharing, error);
  if (predicate.rule == Rule::time && busy) reading.outcome = PartOutcome::busy;
  return reading;
}

Reading read_rungs(const Predicate& predicate, const std::vector<Spread>& rungs) {
  std::vector<double> all;
  for (const Spread& rung : rungs) all.insert(all.end(), rung.values.begin(), rung.values.end());
  const Spread seeds = spread_of(all);
  const bool have_moments = std::ranges::all_of(
      rungs, [](const Spread& rung) { return rung.n > 1 && rung.nonfinite == 0 && rung.linear.sd > 0; });
  if (rungs.size() < 2 || !have_moments) return read(predicate, seeds, 1);
  const Range interval = pooled_mean(rungs, error_rate / 2).interval;
  return {outcome_of_interval(predicate, interval), interval, seeds.n};
}

int64_t seeds_needed(const Predicate& predicate, const Spread& seeds, int64_t sharing, int64_t look) {
  const Reading now = read(predicate, seeds, sharing, look);
  if (now.outcome != PartOutcome::too_few_seeds || seeds.n < 1) return 0;
  if (predicate.rule == Rule::one_more_seed)
    return seeds_for_prediction(error_rate / static_cast<double>(sharing));
  if (seeds.n < 2 || predicate.rule == Rule::median) return 0;
  const auto scaled = [&](double value) { return predicate.log ? std::log(value) : value; };
  const auto [mean, sd] = seeds.moments(predicate.log);
  const double error = error_of(predicate, sharing, look + 1);
  // Of the ways to be decided the one that takes the fewest seeds: beyond a bound, or within the margin about one.
  double distance = 0, nearest = infinity;
  for (const double bound : {predicate.low, predicate.high})
    if (std::isfinite(bound) && (!predicate.log || bound > 0)) {
      const double shown = bound_shown(bound);
      nearest = std::min(nearest, std::abs(scaled(shown) - mean));
      if (predicate.margin > 0)
        distance = std::min(scaled(shown + predicate.margin) - mean, mean - scaled(shown - predicate.margin));
    }
  const double away = std::max(distance, nearest);
  const int64_t normal = seeds_for_mean(sd, away, error);
  // Of skewed values the interval is longer than Student's, to one side at least.
  const double half = std::max(scaled(now.interval.high) - mean, mean - scaled(now.interval.low)),
               student = student_quantile(1 - error_of(predicate, sharing, look), seeds.n - 1) * sd /
                         std::sqrt(static_cast<double>(seeds.n)),
               longer = half / student;
  if (!std::isfinite(longer) || longer <= 1) return normal;
  const double skewed = std::ceil(static_cast<double>(normal) * longer * longer);
  return skewed < 1e9 ? static_cast<int64_t>(skewed) : normal;
}

Phrase far_miss(const Predicate& predicate, const Spread& seeds) {
  const double low = predicate.low, high = predicate.high;
  const double margin = (high - low) / 2, away = std::max(low - seeds.max, seeds.min - high);
  const bool measured = seeds.n > 0 && seeds.nonfinite == 0 && std::isfinite(margin) && margin > 0;
  if (!measured || predicate.rule == Rule::one_more_seed || away <= 10 * margin) return {};
  const Phrase missed{"every seed misses by more than five times the width of the bounds",
                      "每个种子偏离界限都超过界限宽度的五倍"};
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
                            {"quotient of times", "耗时之比"},
                            {"median", "中位数"}},
               &who = of_rule[static_cast<size_t>(p.rule)];
  const Phrase margin =
      p.margin > 0 ? filled({", margin {}", "，余量 {}"}, exact_number_text(p.margin)) : Phrase();
  if (p.low == p.high) return filled({"{} exactly {}", "{}恰为 {}"}, who, low);
  if (p.low == -infinity && below) return filled({"{} below {}", "{}小于 {}"}, who, high) + margin;
  if (p.low == -infinity) return filled({"{} at most {}", "{}不超过 {}"}, who, high);
  if (p.high == infinity && above) return filled({"{} above {}", "{}大于 {}"}, who, low) + margin;
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
