// Matrix: a small dense square matrix of doubles, and the Jacobians that are kept in it.
#pragma once

#include "../../../core/rng.h"
#include "../../run/measurements.h"

namespace isobar::jacobian {

using Vector = std::vector<double>;

struct Matrix {
  int64_t size;
  Vector values;  // row by row

  explicit Matrix(int64_t n) : size(n), values(static_cast<size_t>(n * n)) {}
  double& operator()(int64_t i, int64_t j) { return values[static_cast<size_t>(i * size + j)]; }
  double operator()(int64_t i, int64_t j) const { return values[static_cast<size_t>(i * size + j)]; }
};

// The matrix whose entry (i, j) is element(i, j).
Matrix matrix_of(int64_t size, const std::function<double(size_t i, size_t j)>& element);

// J(i, j) = ∂f_i/∂x_j of f: (d) → (d) by our backward: row i is the gradient of f_i. x is f64.
Matrix backward_jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x);

double max_abs(const Vector& v);
double norm(const Vector& v);
double dot(const Vector& a, const Vector& b);
Vector times(const Matrix& a, const Vector& v);
// The largest |a − b|; largest |a − aᵀ|.
double max_difference(const Vector& a, const Vector& b);
double asymmetry(const Matrix& a);

// By elimination with complete pivoting. Pivots count down to `tolerance` times the first.
struct Rank {
  int64_t rank;
  double last_kept, first_dropped;  // pivots in units of the first; 0 where none is left
};
Rank rank_of(Matrix a, double tolerance = 1e-9);

// --- First and second derivatives of the norms, ours against the closed forms of source 004, in f64.
//
//   RMSNorm     y = x r, r = 1/√(mean x² + eps)              J = r (I − y yᵀ/d)
//   LayerNorm   h = (x − mean) r, r = 1/√(var + eps)         J = r (I − 1 1ᵀ/d − h hᵀ/d)
//   x/‖x‖                                                    J = I/‖x‖ − x xᵀ/‖x‖³
//
// Without eps the direction x is lost (J x = 0) and the rank is d − 1, LayerNorm's d − 2 (x and 1 are lost).
// With eps J v = eps r³ v for v = x, or x − mean in LayerNorm: small, not zero.

// Keys "jacobian.<function>.d<d>.…": max_abs_diff, of backward and closed form; asymmetry, the largest |J −
// Jᵀ|; null, ‖J v‖/‖v‖, and null_over_theory, that in units of eps r³; ranks. And "identity.d<d>": the largest
// |RMSNorm(x) − √d x/‖x‖|.
void measure_jacobians(Measurements& measurements, int64_t d, const Rng& rng);

// Keys "second.rmsnorm.d<d>.…": the gradient of uᵀ J(x) v, for random u and v, by double backward: its largest
// difference from the closed form, and from central differences of the closed first derivative, both in units
// of its largest element.
void measure_second_derivatives(Measurements& measurements, int64_t d, const Rng& rng);

// "expansion.{across, along}.d<d>.s<s>.remainder": what source 004's expansion of x/‖x‖ to first order in Δ,
// Δ/‖x‖ − (x·Δ) x/‖x‖³, leaves of the true difference, s = ‖Δ‖/‖x‖: √(1 + s²) − 1 for Δ ⟂ x, 0 for Δ ∥ x.
void measure_expansions(Measurements& measurements, int64_t d, const Rng& rng);

}  // namespace isobar::jacobian
