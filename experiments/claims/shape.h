// Shape: what the values of seeds show against Student's assumption that they are independent and normal.
//
// Fewer than 4 in 100 normal samples give any of these signs, at any number of seeds (tests/claims/verdict_rates_test.cpp).
#pragma once

#include "../run/stats.h"

namespace isobar::claims {

enum class Doubt {
  none,
  equal,         // all values are one, or for more than 3 seeds most are
  clusters,      // one gap takes up more of their range than in 99 of 100 normal samples
  skewed,        // |skewness| is above that of 97 of 100 normal samples
  infinite,      // a value is infinite
  no_logarithm,  // a value is not positive, and the rule takes logarithms
};

Doubt doubt_about(const Spread& seeds, bool log);

// The interval of confidence of the mean, with `error` on either side, that holds for normal values and for
// skewed ones of one sign: Student's, extended on the side away from zero to where the mean of a log-normal
// quantity may lie (Zhou and Gao, Confidence intervals for the log-normal mean, 1997: Cox's method; here the
// errors of mean and variance of the logarithms are added, which is never shorter).
Range safe_mean_interval(const Spread& seeds, double error, bool log);

// The interval of one more seed: Student's prediction interval, 1.4 times as long, as values with the tails
// of Student's t with 3 degrees of freedom ask for, extended as above.
Range safe_prediction_interval(const Spread& seeds, double error, bool log);

// From so many seeds on the mean of skewed or clustered ones has an interval.
inline constexpr int64_t seeds_for_skewness = 10;
// That interval: the longer of Student's and of Hall's, which is corrected for skewness (Hall 1992), each a
// quarter longer, with 1.5 times the skewness of the sample, which is too small (build/bin/verdict_rates).
Range skewed_mean_interval(const Spread& seeds, double error, bool log);

// The range of all values with its own length on either side, ten times that for fewer than 10 values: where
// mean and one more seed lie, however skewed the values are. Infinite for fewer than 5, and for equal ones.
Range beyond_all(const Spread& seeds);

}  // namespace isobar::claims
