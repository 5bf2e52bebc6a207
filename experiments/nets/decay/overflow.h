// What the study and its page in a browser make of a signal that overflowed.
#pragma once

#include <cmath>
#include <limits>

namespace isobar::decay {

// A std or a norm of a signal that overflowed comes out as NaN, of ∞ − ∞: infinity, which is what it is beyond f32.
inline double overflow_as_infinity(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::infinity() : value;
}

}  // namespace isobar::decay
