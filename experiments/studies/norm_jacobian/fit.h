// How well one elementwise curve can replace RMSNorm, which sees the whole row: the least mean squared
// error over samples. RMSNorm's outputs have a mean square of 1, so 1 is what y = 0 would reach.
//
//   dyt      √d tanh(p x / √d)     p = 1/ρ
//   dyisru   √d x / √(x² + p)      p = C
#pragma once

#include "matrix.h"

namespace isobar::jacobian {

// Elements of inputs, and what RMSNorm over their rows of d makes of them.
struct Sample {
  std::string name;
  int64_t d;
  double others;  // what the squares of a row's other elements sum to on average, where that is known: best C
  Vector x, y;
};

// Rows of d elements:
//   normal           N(0, 1)
//   student_t3       Student's t with three degrees of freedom: now and then an element is large
//   outlier_channel  N(0, 1), channel 0 a hundred times as large
//   outlier_alone    of those rows, channel 0's elements only
//   rest_alone       of those rows, all other elements
//   sweep_alone      N(0, 1) but for one element of ±1 to ±1000 (log-uniform): that element only
std::vector<Sample> draw_samples(int64_t rows, int64_t d, const Rng& rng);

struct Curve {
  const char* name;
  double (*value)(double x, double p, double sqrt_d);
  double low, high;  // where p is sought
};
extern const std::array<Curve, 2> curves;

// The x at which f is least: the best of a grid, then golden sections of the gap around it.
double argmin(const std::function<double(double)>& f, double low, double high);

struct Fit {
  double p, gain, mse;
};
// The best p, for gain · curve: with gain 1, or with the best gain for each p (a trained weight).
Fit best_fit(const Sample& sample, const Curve& curve, bool free_gain);

// Keys "fit.<sample>.…" with gain 1; the same with "fit_gain" for a free gain.
void measure_fits(Measurements& measurements, int64_t rows, int64_t d, const Rng& rng);

// --- Population: all elements of rows of d of a given law, and what RMSNorm makes of them, by quadrature. Of
// all functions of one element E[y|x] has the least mean squared error against RMSNorm's y.
//
//   y = √d x / √(x² + S), S the sum of the row's other squares
//   error of f:  E[(f(x) − y)²] = E[Var(y|x)] + E[(f(x) − E[y|x])²],  and the first term is the best one's

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

// Keys "fit.<population>.best_mse", and "fit.<population>.…_over_best" in its units.
void measure_populations(Measurements& measurements, int64_t d);

}  // namespace isobar::jacobian
