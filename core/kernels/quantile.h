// The standard normal quantile, by Wichura 1988, algorithm AS 241 (PPND16); relative error about 1e-16. Three
// ratios of polynomials of degree 7 fit it: in the middle, for 85 % of all p, in the tails, and in the far
// tails.
#pragma once

#include <cmath>

#include "vmath.h"

namespace isobar::kernels {
namespace quantile {

inline constexpr double middle_above[8] = {
    3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
    4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3};
inline constexpr double middle_below[8] = {
    1.00000000000000000000e0, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
    2.1213794301586595867e4,  3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3};
inline constexpr double tail_above[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                         5.76949722146069140550e0,  3.64784832476320460504e0,
                                         1.27045825245236838258e0,  2.41780725177450611770e-1,
                                         2.27238449892691845833e-2, 7.74545014278341407640e-4};
inline constexpr double tail_below[8] = {1.00000000000000000000e0,  2.05319162663775882187e0,
                                         1.67638483018380384940e0,  6.89767334985100004550e-1,
                                         1.48103976427480074590e-1, 1.51986665636164571966e-2,
                                         5.47593808499534494600e-4, 1.05075007164441684324e-9};
inline constexpr double far_above[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                        1.78482653991729133580e0,  2.96560571828504891230e-1,
                                        2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                        2.71155556874348757815e-5, 2.01033439929228813265e-7};
inline constexpr double far_below[8] = {1.00000000000000000000e0,  5.99832206555887937690e-1,
                                        1.36929880922735805310e-1, 1.48753612908506148525e-2,
                                        7.86869131145613259100e-4, 1.84631831751005468180e-5,
                                        1.42151175831644588870e-7, 2.04426310338993978564e-15};

template <class V>
V horner(V x, const double (&c)[8]) {
  V y = splat<V>(c[7]);
  for (int i = 6; i >= 0; --i) y = y * x + c[i];
  return y;
}

// q is p − ½, at most middle_end from zero.
inline constexpr double middle_end = 0.425;
template <class V>
V middle(V q) {
  const V r = 0.180625 - q * q;  // 0.425²
  return q * horner(r, middle_above) / horner(r, middle_below);
}

// |z| in the tails, where r = √(−log(min(p, 1 − p))): tail() for r up to tail_end, far_tail() beyond.
inline constexpr double tail_end = 5;
template <class V>
V tail(V r) {
  return horner(r - 1.6, tail_above) / horner(r - 1.6, tail_below);
}
inline double far_tail(double r) { return horner(r - tail_end, far_above) / horner(r - tail_end, far_below); }

}  // namespace quantile

inline constexpr int quantile_block = 256;  // numbers at a time

// z[i] = quantile of p[i], for n ≤ quantile_block numbers in (0, 1).
inline void normal_quantiles(int n, const double* p, double* z) {
  assert(n >= 0 && n <= quantile_block && (n == 0 || (p != nullptr && z != nullptr && p != z)));
  using namespace quantile;
  // First loop: the fit of the middle, for all.
  map_registers_serial(
      n, z, [](auto v) { return middle(v - 0.5); }, p);
  // Second and third loop: the positions of the numbers in a tail.
  int64_t outside[quantile_block], where[quantile_block], count = 0;
  for (int i = 0; i < n; ++i) outside[i] = std::abs(p[i] - 0.5) > middle_end ? 1 : 0;
  for (int i = 0; i < n; ++i) {
    where[count] = i;
    count += outside[i];
  }
  // Then for those alone: r, the fit of the tails, and the result at its position.
  double r[quantile_block] = {}, fit[quantile_block];
  for (int64_t k = 0; k < count; ++k) r[k] = std::sqrt(-log(std::min(p[where[k]], 1 - p[where[k]])));
  map_registers_serial(
      count, fit, [](auto v) { return tail(v); }, r);
  for (int64_t k = 0; k < count; ++k) {
    const double distance = r[k] <= tail_end ? fit[k] : far_tail(r[k]);
    z[where[k]] = std::copysign(distance, p[where[k]] - 0.5);
  }
}

}  // namespace isobar::kernels
