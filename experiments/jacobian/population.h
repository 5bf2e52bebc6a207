// Population: all elements of rows of d of a given law, and what RMSNorm makes of them, by quadrature. Among
// all functions of one element alone, E[y|x] has the least mean squared error against RMSNorm's y; no choice
// of a curve can do better.
//
//   y = √d x / √(x² + S), S the sum of the row's other squares
//   error of f:  E[(f(x) − y)²] = E[Var(y|x)] + E[(f(x) − E[y|x])²],  and the first term is the best one's
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fit.h"

namespace isobar::jacobian {

struct Population {
  // Elements near x, a `share` of all: E[y|x] and Var(y|x). Laws are even in x, curves odd: x > 0 is enough.
  struct Point {
    double x, share, mean, variance;
  };
  std::string name;
  int64_t d;
  std::vector<Point> points;

  double best_mse() const;
};

// Rows of d elements of N(0, 1), d ≥ 64:
//   normal            no other elements
//   outlier_channel   one element is of N(0, 100²)
//   constant_outlier  one element is 100
Population normal_population(int64_t d);
Population outlier_population(int64_t d);
Population constant_outlier_population(int64_t d);

// The best p, and the error that is then left, for curve · gain as in best_fit().
Fit best_fit(const Population& population, const Curve& curve, bool free_gain);
// The error of f(x) = gain · x, with gain 1 or the best one.
double identity_mse(const Population& population, bool free_gain);

// Keys "fit.<population>.best_mse", and errors in its units: "fit.<population>.{dyisru, dyt, identity}_over_best";
// the same with "fit_gain" for a free gain.
void measure_populations(Measurements& measurements, int64_t d);

}  // namespace isobar::jacobian
