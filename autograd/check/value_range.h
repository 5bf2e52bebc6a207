// ValueRange: the extent of a tensor's values, and where the first one that is not finite stands.
#pragma once

#include <limits>

#include "../../core/tensor.h"

namespace isobar {

// The values of a tensor, floats or integers.
struct ValueRange {
  Shape shape = {};
  Dtype dtype = Dtype::f64;
  double least = std::numeric_limits<double>::quiet_NaN(),
         greatest = least;  // of the finite values; NaN for none
  int64_t nans = 0, infinities = 0;
  int64_t first_bad = -1;  // place of the first value that is not finite, in row-major order, or -1
  double bad_value = 0;    // what is there: NaN or an infinity

  bool finite() const { return first_bad < 0; }
  // first_bad as an index for each dimension.
  std::vector<int64_t> index() const { return shape.index_at(first_bad); }
  // "[16, 64] from -1.5 to 2", "[16, 64] from -1.5 to 2 and 3 NaN".
  std::string text() const;
  // "inf at [3, 0] and 1 more place of its result [4, 2]", for `of` "its result".
  std::string bad_text(const std::string& of) const;
};
// Throws Error for an undefined tensor.
ValueRange range_of(const Tensor& x);

}  // namespace isobar
