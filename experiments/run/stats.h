// Spread: one quantity measured over several seeds, and what can be concluded from so many.
//
// Intervals rest on Student's t, on independent normal values; a product over layers (a std, a gradient norm)
// is taken by its logarithm. Their coverage is simulated in tests/claims/verdict_rates_test.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "../../core/error.h"
#include "json.h"

namespace isobar {

// The sample mean and standard deviation (n − 1) of n values; the deviation is NaN for one value, and where a
// value is infinite.
struct SampleMoments {
  double mean = NAN;
  double sd = NAN;
};

// Median, least and greatest of all values, and how many are infinite or NaN. An infinity is a value like any
// other: a median over nine seeds of which five overflowed is infinite, and what the other four give says
// nothing about it. A NaN may stand for any number; as in PyTorch, one makes all three NaN.
struct Spread {
  std::vector<double> values;  // all of them, in the order of their seeds
  double median = NAN;
  double min = NAN;
  double max = NAN;
  int64_t nonfinite = 0;
  int64_t n = 0;            // how many are finite
  SampleMoments linear;     // of all values
  SampleMoments logarithm;  // of their natural logarithms; NaN where one is not positive

  const SampleMoments& moments(bool log) const { return log ? logarithm : linear; }
};

// The median of an even number of values is the mean of the middle two: NaN of two opposite infinities.
Spread spread_of(std::span<const double> values);
// One value of each run, in order: values_of(runs, &Outcome::accuracy), or a function of a run; their spread.
template <class Runs, class Value>
std::vector<double> values_of(const Runs& runs, const Value& value) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back(std::invoke(value, run));
  return values;
}
template <class Runs, class Value>
Spread spread_over(const Runs& runs, const Value& value) {
  return spread_of(values_of(runs, value));
}
// f of each pair of values: pairwise(a, b, std::minus()).
template <class F>
std::vector<double> pairwise(const std::vector<double>& a, const std::vector<double>& b, const F& f) {
  check(a.size() == b.size(), "wanted as many values of one as of the other, got {} and {}", a.size(),
        b.size());
  std::vector<double> values;
  for (size_t i = 0; i < a.size(); ++i) values.push_back(f(a[i], b[i]));
  return values;
}
// What to_json() wrote, of its values.
Spread spread_from(const Json& json);

struct Range {
  double low, high;
  bool contains(double value) const { return value >= low && value <= high; }
};

// The interval of confidence of the mean (with `log` of the geometric mean): it lies below `low` with a
// probability of `error`, and above `high` likewise. Infinite for one value and where a value is infinite or
// NaN, a point where all are equal.
Range mean_interval(const Spread& seeds, double error, bool log);

// Where one more seed lies with a probability of 1 − error: mean ± t(n − 1, 1 − error/2) s √(1 + 1/n).
Range prediction_interval(const Spread& seeds, double error, bool log);

// How many seeds a prediction interval takes to be at most twice as long as it would be for infinitely many.
int64_t seeds_for_prediction(double error);

// How many seeds make mean_interval() so short that it ends where `distance` (of means, or of logarithms) is
// passed, if mean and deviation stay as they are; 0 where no number does.
int64_t seeds_for_mean(double sd, double distance, double error);

// {"values": […], "median": …, "min": …, "max": …, "nonfinite": …, "n": …, "mean": …, "sd": …} where defined.
Json to_json(const Spread& spread);
// A number of a summary, where infinities and NaN are texts; NaN for null.
double number_from(const Json& json);

// --- Student's t distribution with a whole number of degrees of freedom.

// P(T <= t), by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
double student_probability(double t, int64_t degrees);
// The t with P(T <= t) = p, to 1e-10 relative, for 0 < p < 1 and degrees >= 1.
double student_quantile(double p, int64_t degrees);

}  // namespace isobar
