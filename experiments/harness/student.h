// Student's t distribution with a whole number of degrees of freedom.
#pragma once

#include <cstdint>

namespace isobar {

// P(T <= t), by the finite series of Abramowitz and Stegun, 26.7.3 and 26.7.4.
double student_probability(double t, int64_t degrees);
// The t with P(T <= t) = p, to 1e-10 relative, for 0 < p < 1 and degrees >= 1.
double student_quantile(double p, int64_t degrees);

}  // namespace isobar
