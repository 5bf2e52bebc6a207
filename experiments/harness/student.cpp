#include "student.h"

#include <cmath>
#include <functional>
#include <numbers>

#include "../../core/error.h"
#include "../../core/rng.h"

namespace isobar {
namespace {

// The x with f(x) = p, for an increasing f that is symmetric about f(0) = 1/2: bisection, which cannot fail.
double inverse(double p, const std::function<double(double)>& f) {
  check(p > 0 && p < 1, "quantile: wanted a probability between 0 and 1, got {}", p);
  if (p < 0.5) return -inverse(1 - p, f);
  double low = 0, high = 1;
  while (f(high) < p && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (f(middle) < p ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace

double student_probability(double t, int64_t degrees) {
  check(degrees >= 1, "student_probability: wanted 1 degree of freedom or more, got {}", degrees);
  const auto n = static_cast<double>(degrees);
  const double angle = std::atan(t / std::sqrt(n)), cosine = std::cos(angle), sine = std::sin(angle);
  // A(t): the probability of (−t, t). Odd degrees begin with cos θ, even ones with 1, and each term is the last
  // times cos² θ (k − 1)/k.
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = odd && degrees == 1 ? 0 : term;
  for (int64_t k = odd ? 3 : 2; k <= degrees - 2; k += 2) {
    term *= cosine * cosine * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  const double within = odd ? 2 * std::numbers::inv_pi * (angle + sine * sum) : sine * sum;
  return 0.5 + within / 2;
}

double student_quantile(double p, int64_t degrees) {
  if (degrees >
      300) {  // the expansion about the normal quantile, Abramowitz and Stegun 26.7.5: error below 1e-11
    const double z = normal_quantile(p), z2 = z * z, n = static_cast<double>(degrees);
    return z + z *
                   ((z2 + 1) / 4 + ((5 * z2 + 16) * z2 + 3) / (96 * n) +
                    (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n) +
                    ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / (92160 * n * n * n)) /
                   n;
  }
  return inverse(p, [degrees](double t) { return student_probability(t, degrees); });
}

}  // namespace isobar
