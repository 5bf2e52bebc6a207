// The plateau by iterating until nothing moves.
#include <cmath>

#include "a6.h"

double plateau_std(int64_t width, const Variances& variances) {
  if (width * variances.weight >= 2)
    isobar::throw_error("plateau_std: the signal grows, or stays as it came");
  double z2 = 0, before = -1;
  while (z2 != before) {
    before = z2;
    z2 = width * variances.weight * z2 / 2 + variances.bias;
  }
  return std::sqrt(z2 * (0.5 - 0.5 / std::acos(-1.0)));
}
