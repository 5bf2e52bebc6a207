// Differences: the derivatives of a function by one of its tensors, by finite differences in f64, and their
// comparison with those of the tape. Used by gradcheck and by the Jacobian of the gradient diagnosis.
//
//   const Directions directions(x, 64, 4, rng);             // elements one by one, or four random directions
//   for (int64_t i = 0; i < directions.count(); ++i) {
//     const Stencil stencil(f, x, directions[i], directions.step(i));
//     stencil.slope(k);                                       // of the k-th number of f
//   }
#pragma once

#include <functional>

#include "../../../core/rng.h"

namespace isobar {

using Values = std::vector<double>;
// All numbers of f, as a function of one of its tensors.
using Evaluate = std::function<Values(const Tensor& x)>;

// √(Σ values²)
double euclidean_norm(const Values& values);
double largest_of(const Values& values);  // max |value|
// "[1, 2]": the place of the element at `position` in row-major order.
std::string index_text(const Shape& shape, int64_t position);

// f at the points x ± h · direction and x ± 2 h · direction.
struct Stencil {
  Stencil(const Evaluate& f, const Tensor& x, const Values& direction, double step);

  // df/ds of the k-th number of f(x + s · direction) at s = 0, from four points. In units of the function's
  // scale, rounding adds an error of about ε/h and the formula one of h⁴. At h = ∛ε, where the central
  // difference of two points is best (its error is h²), rounding alone remains, about 10⁻¹¹, even for
  // functions that bend within 10⁻³, such as a norm on a row dominated by its eps.
  double slope(size_t k) const {
    return (8 * (right[k] - left[k]) - (far_right[k] - far_left[k])) / (12 * h);
  }
  // d (Σ weights · f) / ds. Differences are taken before the sum, because the sum itself is larger and rounds
  // more.
  double slope_of_sum(const Values& weights) const;
  // The slopes on both sides, given f(x): parabolas through three points, which agree to h² on a smooth
  // function.
  double slope_right(size_t k, double here) const {
    return (4 * (right[k] - here) - (far_right[k] - here)) / (2 * h);
  }
  double slope_left(size_t k, double here) const {
    return (4 * (here - left[k]) - (here - far_left[k])) / (2 * h);
  }

  Values left, right, far_left, far_right;
  double h;
};

// The directions along which x is moved: each of its elements if it has at most `element_limit`, else
// `random` directions with entries ±1.
class Directions {
 public:
  Directions(const Tensor& x, int64_t element_limit, int random, const Rng& rng, bool in_f32 = false);

  int64_t count() const { return sampled_ ? random_ : static_cast<int64_t>(x_.size()); }
  bool sampled() const { return sampled_; }
  Values operator[](int64_t i) const;
  // The step of a difference quotient: ∛ε, times the size of what is moved where that is above 1. Where f
  // rounds to f32: 4e-3, times the root of that size, which leaves a slope of 1 four digits.
  double step(int64_t i) const;
  // The slope along direction i according to this gradient with respect to x.
  double along(int64_t i, const Values& gradient) const;
  // Differences have an absolute error: a derivative along a direction below this size cannot be
  // distinguished from rounding. See GradcheckReport. `weighted` holds the terms of the number that is
  // differentiated.
  double noise_floor(const Values& gradient, const Values& weighted) const;

 private:
  const Values x_;
  const bool sampled_, in_f32_;
  const int random_;
  const Rng rng_;
};

// |tape − numeric| / max(|tape|, |numeric|, floor); infinite where one of them is not finite.
double relative_error(double tape, double numeric, double floor);

}  // namespace isobar
