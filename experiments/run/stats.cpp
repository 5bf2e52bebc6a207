#include "stats.h"

#include <bit>
#include <iterator>
#include <numbers>
#include <numeric>

#include "../../core/rng.h"

namespace isobar {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int64_t most_seeds = 100'000;

// In two passes.
SampleMoments moments_of_values(const std::vector<double>& values, bool all_finite) {
  SampleMoments moments;
  const auto n = static_cast<double>(values.size());
  if (!all_finite) {
    moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    return moments;
  }
  // All equal: their mean is that value, which a sum might miss by a rounding.
  if (std::equal(values.begin() + 1, values.end(), values.begin())) {
    moments.mean = values.front();
    if (values.size() > 1) moments.sd = 0;
    return moments;
  }
  moments.mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - moments.mean) * (value - moments.mean);
  moments.sd = std::sqrt(squares / (n - 1));
  return moments;
}

// The mean and to either side what half() makes of t times the deviation, and of the number of seeds.
Range around(const Spread& seeds, double error, bool log, double (*half)(double t_sd, double n)) {
  const SampleMoments& moments = seeds.moments(log);
  if (moments.sd == 0) return {seeds.min, seeds.max};
  // One value says nothing about others, and what an infinity would be with another seed is not known.
  if (std::isnan(moments.sd)) return {log ? 0 : -infinity, infinity};
  const double away =
      half(student_quantile(1 - error, seeds.n - 1) * moments.sd, static_cast<double>(seeds.n));
  const double low = moments.mean - away, high = moments.mean + away;
  return log ? Range{std::exp(low), std::exp(high)} : Range{low, high};
}

// The x with f(x) = p, for an increasing f that is symmetric about f(0) = 1/2: bisection, which cannot fail.
double inverse(double p, const std::function<double(double)>& f) {
  check(p > 0 && p < 1, "quantile: wanted a probability between 0 and 1, got {}", p);
  if (p < 0.5) return -inverse(1 - p, f);
  double low = 0, high = 1;
  while (f(high) < p && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (f(middle) < p ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

Spread spread_of(std::span<const double> values) {
  Spread spread;
  spread.values.assign(values.begin(), values.end());
  if (values.empty()) return spread;
  std::vector<double> sorted = spread.values;
  spread.n = std::ranges::count_if(sorted, [](double v) { return std::isfinite(v); });
  spread.nonfinite = std::ssize(sorted) - spread.n;
  spread.linear = moments_of_values(sorted, spread.nonfinite == 0);
  if (std::ranges::any_of(sorted, [](double v) { return std::isnan(v); })) return spread;
  std::sort(sorted.begin(), sorted.end());
  const size_t middle = sorted.size() / 2;
  // midpoint() does not overflow where a sum would.
  spread.median = sorted.size() % 2 == 1 ? sorted[middle] : std::midpoint(sorted[middle - 1], sorted[middle]);
  spread.min = sorted.front();
  spread.max = sorted.back();
  if (spread.min > 0) {
    for (double& value : sorted) value = std::log(value);
    spread.logarithm = moments_of_values(sorted, spread.nonfinite == 0);
  }
  return spread;
}

Range mean_interval(const Spread& seeds, double error, bool log) {
  return around(seeds, error, log, [](double t_sd, double n) { return t_sd / std::sqrt(n); });
}
Range prediction_interval(const Spread& seeds, double error, bool log) {
  return around(seeds, error / 2, log, [](double t_sd, double n) { return t_sd * std::sqrt(1 + 1 / n); });
}

int64_t seeds_for_prediction(double error) {
  const double most = 2 * normal_quantile(1 - error / 2);
  for (int64_t n = 2;; ++n)
    if (student_quantile(1 - error / 2, n - 1) * std::sqrt(1 + 1 / static_cast<double>(n)) <= most) return n;
}

int64_t seeds_for_mean(double sd, double distance, double error) {
  const auto enough = [&](int64_t n) {
    return student_quantile(1 - error, n - 1) * sd <= distance * std::sqrt(static_cast<double>(n));
  };
  if (!(distance > 0) || !enough(most_seeds)) return 0;
  int64_t low = 1, high = most_seeds;  // not enough, enough
  while (high - low > 1) {
    const int64_t middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

Json to_json(const Spread& spread) {
  Json json = {{"values", spread.values}, {"median", spread.median},       {"min", spread.min},
               {"max", spread.max},       {"nonfinite", spread.nonfinite}, {"n", spread.n}};
  const auto add = [&](const char* key, double value) {
    if (!std::isnan(value)) json[key] = value;
  };
  add("mean", spread.linear.mean);
  add("sd", spread.linear.sd);
  return json;
}

double number_from(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return infinity;
  if (json == "-inf") return -infinity;
  return std::numeric_limits<double>::quiet_NaN();
}

Spread spread_from(const Json& json) {
  check(json.is_object() && json.contains("values") && json["values"].is_array(),
        "summary.json: wanted the values of all seeds, found none; run the study again with this version");
  std::vector<double> values;
  for (const Json& value : json["values"]) values.push_back(number_from(value));
  return spread_of(values);
}

double student_probability(double t, int64_t degrees) {
  check(degrees >= 1, "student_probability: wanted 1 degree of freedom or more, got {}", degrees);
  const auto n = static_cast<double>(degrees);
  const double angle = std::atan(t / std::sqrt(n)), cosine = std::cos(angle), sine = std::sin(angle);
  // A(t): the probability of (−t, t). Odd degrees begin with cos θ, even ones with 1, and each term is the
  // last times cos² θ (k − 1)/k.
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = odd && degrees == 1 ? 0 : term;
  for (int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double within = odd ? 2 * std::numbers::inv_pi * (angle + sine * sum) : sine * sum;
  return 0.5 + within / 2;
}

double student_quantile(double p, int64_t degrees) {
  if (degrees > 300) {  // expanded about the normal quantile, Abramowitz and Stegun 26.7.5: error below 1e-11
    const double z = normal_quantile(p), z2 = z * z, n = static_cast<double>(degrees);
    return z + z *
                   ((z2 + 1) / 4 + ((5 * z2 + 16) * z2 + 3) / (96 * n) +
                    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n) +
                    ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * n * n * n)) /
                   n;
  }
  // Rules ask for the same few again and again. No map: browsers' modules have no thread's end.
  struct Known {
    uint64_t p;
    int64_t degrees;
    double t;
  };
  static thread_local Known known[1024];
  const auto bits = std::bit_cast<uint64_t>(p);
  Known& row = known[(bits + static_cast<uint64_t>(degrees)) * 0x9e3779b97f4a7c15 >> 54];
  if (degrees < 1 || row.p != bits || row.degrees != degrees)
    row = {bits, degrees, inverse(p, [degrees](double t) { return student_probability(t, degrees); })};
  return row.t;
}

}  // namespace isobar
