// Shape: the intervals that verdicts rest on. Which of them a value gets is fixed by its rule and by the number of its
// seeds, before they are seen. How often they are wrong: tests/claims/verdict_rates_test.cpp.
#pragma once

#include "../run/stats.h"

namespace isobar::claims {

// Why values have no such interval.
enum class Doubt {
  none,
  equal,         // all values are one
  infinite,      // a value is infinite
  no_logarithm,  // a value is not positive, and the rule takes logarithms
};

Doubt doubt_about(const Spread& seeds, bool log);

// From so many seeds on their skewness is known well enough to correct for it.
inline constexpr int64_t seeds_for_skewness = 10;

// The interval of confidence of the mean, with `error` on either side: Student's; from 10 seeds on the longer on
// each side of Student's and of Hall's, which is corrected for skewness (Hall, On the removal of skewness by
// transformation, 1992), with 1.5 times the skewness of the sample, which is too small.
Range safe_mean_interval(const Spread& seeds, double error, bool log);

// The interval of one more seed: Student's prediction interval, 1.4 times as long, as values with the tails
// of Student's t with 3 degrees of freedom ask for; of values of one sign extended, on the side away from zero, to
// where one more of a log-normal quantity may lie.
Range safe_prediction_interval(const Spread& seeds, double error, bool log);

// Where the median of all seeds lies, whatever their shape: between two of the sorted values, by the sign test.
// Infinite for so few values that no two of them do.
Range median_interval(const Spread& seeds, double error);

// Clopper and Pearson's interval of the share of all seeds, of which `count` of n were counted.
Range share_interval(int64_t count, int64_t n, double error);

// The mean of all rungs of a ladder, each of which has a mean of its own: random effects (DerSimonian and Laird) with
// Hartung and Knapp's interval, which is never shorter than without their factor.
struct Pooled {
  double mean;
  Range interval;
};
Pooled pooled_mean(const std::vector<Spread>& rungs, double error);

}  // namespace isobar::claims
