// How well one elementwise curve can replace RMSNorm, which sees the whole row: the least mean squared
// error over samples. RMSNorm's outputs have a mean square of 1, so 1 is what y = 0 would reach.
//
//   dyt      √d tanh(p x / √d)     p = 1/ρ
//   dyisru   √d x / √(x² + p)      p = C
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "../../core/rng.h"
#include "../harness/measurements.h"
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

// Keys "fit.<sample>.<curve>.{mse, p}" and "fit.<sample>.dyisru_over_dyt" (of mse), with gain 1; the same
// with "fit_gain" for a free gain, and its ".gain".
void measure_fits(Measurements& measurements, int64_t rows, int64_t d, const Rng& rng);

}  // namespace isobar::jacobian
