// Spread: one figure measured over several seeds.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "json.h"

namespace isobar {

// Median, least and greatest of the finite values (NaN where there are none), and how many values were
// infinite or NaN: an overflow must not hide in a median, nor a single one spoil it.
struct Spread {
  double median = std::numeric_limits<double>::quiet_NaN();
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  int64_t nonfinite = 0;
};

// The median of an even number of values is the mean of the middle two.
Spread spread_of(std::span<const double> values);

struct Range {
  double low, high;
  bool contains(double value) const { return value >= low && value <= high; }
};

// What could be one more seed: the range that the seeds covered, made longer by half of its length at either
// end; lengths are ratios, since stds and norms multiply from layer to layer. With 20 seeds their range
// reaches about 1.9 standard deviations to either side (the mean range of 20 normal numbers is 3.7), so the
// longer one about 3.7: a true figure is refuted once in five thousand, whatever the row. A range that begins
// at 0 is left as it is.
Range one_more_seed(const Spread& seeds);

// {"median": …, "min": …, "max": …, "nonfinite": …}
Json to_json(const Spread& spread);

}  // namespace isobar
