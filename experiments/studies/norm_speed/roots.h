// Roots: what 1/√x costs, in the ways that source 003's "rsqrt(x) = 1/sqrt(x), more efficient" may mean.
#pragma once

#include "../../run/clock.h"

namespace isobar::speed {

// Over so many floats: 1/√x exactly, in one loop and in two (√x is stored and read again), and by the CPU's
// estimate and a Newton step, r ← r (1.5 − ½ x r²). What starting an op costs is not in these times.
struct Roots {
  int64_t count;
  double error;  // relative, of the estimate: the largest
  Rounds rounds;

  explicit Roots(int64_t count);
  std::vector<double> two_loops_over_one() const { return rounds.best_quotients(1, 0); }
  std::vector<double> exact_over_estimate() const { return rounds.best_quotients(0, 2); }
  void publish(Run& run) const;
};

}  // namespace isobar::speed
