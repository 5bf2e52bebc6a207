// Roots: what 1/√x costs, in the ways that source 003's "rsqrt(x) = 1/sqrt(x), more efficient" may mean.
#pragma once

#include "clock.h"

namespace isobar::speed {

// Over so many floats: 1/√x exactly, in one loop and in two (√x is stored and read again), and by the CPU's
// estimate and a Newton step, r ← r (1.5 − ½ x r²). What starting an op costs is not in these times.
class Roots {
 public:
  explicit Roots(int64_t count);
  void round() { rounds_.round(); }
  // Times of two loops over one, and of the exact one over the estimate, of the best round of each group.
  std::vector<std::vector<double>> best_quotients() const;
  // Keys "root.<count>.two_loops_over_one.best" and "root.<count>.exact_over_estimate.best", a value per
  // group of rounds, and "root.<count>.estimate.relative_error", the largest.
  void publish(Run& run) const;

 private:
  int64_t count_;
  double error_;
  Rounds rounds_;
};

}  // namespace isobar::speed
