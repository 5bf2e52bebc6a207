#include "shape.h"

#include <numeric>

namespace isobar::claims {
namespace {

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

// P(at most `count` of n), each with probability p.
double binomial_probability(int64_t count, int64_t n, double p) {
  double sum = 0;
  for (int64_t k = 0; k <= count; ++k) {
    const auto d = static_cast<double>(k), all = static_cast<double>(n);
    sum += std::exp(std::lgamma(all + 1) - std::lgamma(d + 1) - std::lgamma(all - d + 1) + d * std::log(p) +
                    (all - d) * std::log1p(-p));
  }
  return std::min(1.0, sum);
}

// The largest share p of which so few as `count` of n are counted with a probability of `error` or more.
double largest_share(int64_t count, int64_t n, double error) {
  if (count == n) return 1;
  double low = 0, high = 1;
  for (int halving = 0; halving < 60; ++halving) {
    const double p = std::midpoint(low, high);
    (binomial_probability(count, n, p) >= error ? low : high) = p;
  }
  return high;
}

}  // namespace

Doubt doubt_about(const Spread& seeds, bool log) {
  if (seeds.nonfinite > 0) return Doubt::infinite;
  if (log && !(seeds.min > 0)) return Doubt::no_logarithm;
  return seeds.n > 1 && seeds.min == seeds.max ? Doubt::equal : Doubt::none;
}

Range safe_mean_interval(const Spread& seeds, double error, bool log) {
  const Range student = mean_interval(seeds, error, log);
  if (seeds.n < seeds_for_skewness) return student;
  constexpr double inflation = 1.5;
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
  const double unit = moments.sd / root;
  const Range hall{moments.mean - unit * corrected(t), moments.mean - unit * corrected(-t)};
  const auto shown = [log](double end) { return log ? std::exp(end) : end; };
  return {std::min(student.low, shown(hall.low)), std::max(student.high, shown(hall.high))};
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

Range median_interval(const Spread& seeds, double error) {
  std::vector<double> sorted = seeds.values;
  std::ranges::sort(sorted);
  const auto n = std::ssize(sorted);
  // The median lies below the value at `at`, counted from 0, where at most `at` values lie below it.
  int64_t at = -1;
  while (at + 1 < n && binomial_probability(at + 1, n, 0.5) <= error) ++at;
  if (at < 0 || at >= n) return {-HUGE_VAL, HUGE_VAL};
  return {sorted[static_cast<size_t>(at)], sorted[static_cast<size_t>(n - 1 - at)]};
}

Range share_interval(int64_t count, int64_t n, double error) {
  return {1 - largest_share(n - count, n, error), largest_share(count, n, error)};
}

Pooled pooled_mean(const std::vector<Spread>& rungs, double error) {
  const auto weigh = [&](double between) {
    std::vector<double> weights;
    for (const Spread& rung : rungs)
      weights.push_back(1 / (rung.linear.sd * rung.linear.sd / static_cast<double>(rung.n) + between));
    return weights;
  };
  const auto sum_of = [](const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  const auto mean_of = [&](const std::vector<double>& weights) {
    double sum = 0;
    for (size_t i = 0; i < rungs.size(); ++i) sum += weights[i] * rungs[i].linear.mean;
    return sum / sum_of(weights);
  };
  // Σ w (mean of the rung − mean)²
  const auto scatter_of = [&](const std::vector<double>& weights, double mean) {
    double sum = 0;
    for (size_t i = 0; i < rungs.size(); ++i) sum += weights[i] * std::pow(rungs[i].linear.mean - mean, 2);
    return sum;
  };
  const auto degrees = static_cast<double>(rungs.size() - 1);
  std::vector<double> weights = weigh(0);
  double squares = 0;
  for (const double weight : weights) squares += weight * weight;
  const double scale = sum_of(weights) - squares / sum_of(weights);
  weights = weigh(std::max(0.0, (scatter_of(weights, mean_of(weights)) - degrees) / scale));
  const double mean = mean_of(weights), factor = std::max(1.0, scatter_of(weights, mean) / degrees);
  const double half =
      student_quantile(1 - error, std::ssize(rungs) - 1) * std::sqrt(factor / sum_of(weights));
  return {mean, {mean - half, mean + half}};
}

}  // namespace isobar::claims
