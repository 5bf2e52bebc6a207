#include "shape.h"

#include <array>
#include <numeric>

namespace isobar::claims {
namespace {

// Quantiles of 200,000 normal samples of n values (40,000 from n = 160 on).
struct Quantiles {
  double n;
  double skewness;  // 97 %, of its size
  double gap;       // 99 %, of the largest gap over the range
};
constexpr std::array<Quantiles, 12> quantiles = {{{4, 1.104, 0.931},
                                                  {5, 1.291, 0.843},
                                                  {6, 1.359, 0.764},
                                                  {8, 1.351, 0.650},
                                                  {10, 1.305, 0.576},
                                                  {14, 1.191, 0.492},
                                                  {20, 1.062, 0.428},
                                                  {30, 0.905, 0.374},
                                                  {40, 0.804, 0.344},
                                                  {80, 0.586, 0.289},
                                                  {160, 0.413, 0.250},
                                                  {320, 0.297, 0.222}}};

// Between the rows by the logarithms of n and of the quantile. The skewness of three values says no more than
// their gap, and of more than 320 it falls as the root of their number.
double quantile_at(size_t count, double Quantiles::*quantile) {
  const auto n = static_cast<double>(count);
  const bool skewness = quantile == &Quantiles::skewness;
  if (n < 4) return skewness ? HUGE_VAL : 0.994;
  const auto above = std::ranges::find_if(quantiles, [&](const Quantiles& row) { return row.n >= n; });
  if (above == quantiles.end())
    return quantiles.back().*quantile * (skewness ? std::sqrt(quantiles.back().n / n) : 1);
  if (above == quantiles.begin()) return (*above).*quantile;
  const Quantiles& below = *std::prev(above);
  const double part = std::log(n / below.n) / std::log(above->n / below.n);
  return below.*quantile * std::pow((*above).*quantile / below.*quantile, part);
}

// The third moment about the mean over the deviation's cube, both with 1/n.
double skewness_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0, cubes = 0;
  for (const double value : values) {
    const double away = value - mean;
    squares += away * away;
    cubes += away * away * away;
  }
  return cubes / n / std::pow(squares / n, 1.5);
}

// How many of the sorted values are the most frequent one.
size_t most_equal(const std::vector<double>& sorted) {
  size_t most = 0;
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto next = std::upper_bound(at, sorted.end(), *at);
    most = std::max(most, static_cast<size_t>(next - at));
    at = next;
  }
  return most;
}

// Mean and deviation of the logarithms of the values' sizes where all have one sign, +1 or −1; else 0.
struct LogSizes {
  double sign, mean, sd;
};
LogSizes log_sizes(const Spread& seeds) {
  if (seeds.min > 0) return {1, seeds.logarithm.mean, seeds.logarithm.sd};
  if (!(seeds.max < 0)) return {0, 0, 0};
  std::vector<double> mirrored = seeds.values;
  for (double& value : mirrored) value = -value;
  const Spread sizes = spread_of(mirrored);
  return {-1, sizes.logarithm.mean, sizes.logarithm.sd};
}

// The interval with the size `most` in it, on the side of the values.
Range extended(Range interval, double sign, double most) {
  if (sign > 0) interval.high = std::max(interval.high, most);
  if (sign < 0) interval.low = std::min(interval.low, -most);
  return interval;
}

}  // namespace

Doubt doubt_about(const Spread& seeds, bool log) {
  if (seeds.nonfinite > 0) return Doubt::infinite;
  if (log && !(seeds.min > 0)) return Doubt::no_logarithm;
  if (seeds.n < 2) return Doubt::none;
  std::vector<double> values = seeds.values;
  if (log)
    for (double& value : values) value = std::log(value);
  std::ranges::sort(values);
  const size_t n = values.size(), equal = most_equal(values);
  if (equal == n || (n > 3 && 2 * equal > n)) return Doubt::equal;
  double gap = 0;
  for (size_t i = 1; i < n; ++i) gap = std::max(gap, values[i] - values[i - 1]);
  if (n > 2 && gap > quantile_at(n, &Quantiles::gap) * (values.back() - values.front()))
    return Doubt::clusters;
  return std::abs(skewness_of(values)) > quantile_at(n, &Quantiles::skewness) ? Doubt::skewed : Doubt::none;
}

Range safe_mean_interval(const Spread& seeds, double error, bool log) {
  const Range interval = mean_interval(seeds, error, log);
  const auto [sign, mean, sd] = log_sizes(seeds);
  if (log || sign == 0 || seeds.n < 2) return interval;
  const auto n = static_cast<double>(seeds.n);
  const double t = student_quantile(1 - error, seeds.n - 1);
  const double away = t * (sd / std::sqrt(n) + sd * sd / std::sqrt(2 * (n - 1)));
  return extended(interval, sign, std::exp(mean + sd * sd / 2 + away));
}

Range safe_prediction_interval(const Spread& seeds, double error, bool log) {
  constexpr double heavy_tails = 1.4;
  if (seeds.n < 2) return prediction_interval(seeds, error, log);
  const auto n = static_cast<double>(seeds.n);
  const double away = heavy_tails * student_quantile(1 - error / 2, seeds.n - 1) * std::sqrt(1 + 1 / n);
  const SampleMoments& moments = seeds.moments(log);
  const Range interval{moments.mean - away * moments.sd, moments.mean + away * moments.sd};
  if (log) return {std::exp(interval.low), std::exp(interval.high)};
  const auto [sign, mean, sd] = log_sizes(seeds);
  return extended(interval, sign, std::exp(mean + away * sd));
}

Range skewed_mean_interval(const Spread& seeds, double error, bool log) {
  constexpr double inflation = 1.5, longer = 1.25;
  std::vector<double> values = seeds.values;
  if (log)
    for (double& value : values) value = std::log(value);
  const SampleMoments& moments = seeds.moments(log);
  const auto n = static_cast<double>(seeds.n);
  const double skewness = inflation * skewness_of(values), root = std::sqrt(n);
  const double t = student_quantile(1 - error, seeds.n - 1);
  // Hall's inverse of t + s t²/(3 √n) + s² t³/(27 n) + s/(6 √n), s the skewness; it is t itself for s = 0.
  const auto corrected = [&](double away) {
    if (std::abs(skewness) < 1e-6) return away;
    return 3 * root / skewness * (std::cbrt(1 + skewness * (away / root - skewness / (6 * n))) - 1);
  };
  const double unit = longer * moments.sd / root;
  const Range interval{moments.mean - unit * std::max(t, corrected(t)),
                       moments.mean + unit * std::max(t, -corrected(-t))};
  return log ? Range{std::exp(interval.low), std::exp(interval.high)} : interval;
}

Range beyond_all(const Spread& seeds) {
  const double range = seeds.max - seeds.min;
  if (seeds.n < 5 || !(range > 0)) return {-HUGE_VAL, HUGE_VAL};
  const double away = seeds.n < 10 ? 10 * range : range;
  return {seeds.min - away, seeds.max + away};
}

}  // namespace isobar::claims
