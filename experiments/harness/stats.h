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

// {"median": …, "min": …, "max": …, "nonfinite": …}
Json to_json(const Spread& spread);

}  // namespace isobar
