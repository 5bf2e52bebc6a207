// Sums of squares of any finite numbers. The squares of floats are added as doubles, whose range they never
// leave. Those of doubles may overflow above 1e154 and vanish below 1e-154: where a sum shows that, the
// numbers are multiplied by a power of two, which is exact, and the sum is computed again.
//
//   const auto add = [](int64_t n, const auto& term) { return lane_sum(n, term); };
//   squares(n, add, [x](int64_t i) { return x[i]; }).root();     // √Σ x², finite wherever that is a double
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace isobar::kernels {

// Whether a sum of squares lost nothing to the range of doubles; also where it is NaN.
inline bool squares_fit(double sum) { return !(sum < 0x1p-900 || sum > std::numeric_limits<double>::max()); }

// The power of two that brings numbers, the largest of which has this absolute value, near one; 1 where it is
// 0 or infinite.
inline double scale_for(double largest) {
  if (!(largest > 0 && largest <= std::numeric_limits<double>::max())) return 1;
  return std::ldexp(1.0, -std::clamp(std::ilogb(largest), -1022, 1022));
}

// Σ x² = sum / scale².
struct Squares {
  double sum, scale = 1;

  double total() const { return sum / scale / scale; }
  double root() const { return std::sqrt(sum) / scale; }
  double root_of(double share) const { return std::sqrt(sum / share) / scale; }  // √(Σ x² / share)
};

// max |term(i)| over 0 ≤ i < n, which are not NaN.
template <class Term>
double largest_of(int64_t n, const Term& term) {
  double largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(static_cast<double>(term(i))));
  return largest;
}

// Σ term(i)² over 0 ≤ i < n, added by add(n, f) = Σ f(i).
template <class Add, class Term>
Squares squares(int64_t n, const Add& add, const Term& term) {
  const auto scaled = [&](double scale) {
    return add(n, [&term, scale](int64_t i) {
      const double x = static_cast<double>(term(i)) * scale;
      return x * x;
    });
  };
  const double sum = scaled(1);
  if (!std::is_same_v<decltype(term(n)), double> || squares_fit(sum)) [[likely]]
    return {sum};
  const double scale = scale_for(largest_of(n, term));
  return scale == 1 ? Squares{sum} : Squares{scaled(scale), scale};
}

}  // namespace isobar::kernels
