// What gradcheck and numeric Jacobians share.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

namespace isobar {

// Rounding makes a difference quotient wrong by about ε/h, and the plain central one also by h² (in units of
// the function's own scale): both are smallest together at h = ∛ε. We keep that step, and take the four-point
// stencil (8 (f₊₁ − f₋₁) − (f₊₂ − f₋₂)) / 12h, whose own error is h⁴: rounding alone is left, some 10⁻¹¹,
// even for functions that bend within 10⁻³, as a norm does on a row dominated by its eps.
inline const double difference_step = std::cbrt(std::numeric_limits<double>::epsilon());

inline double norm(const std::vector<double>& values) {
  double squares = 0;
  for (double v : values) squares += v * v;
  return std::sqrt(squares);
}

}  // namespace isobar
