// Matrix: a small dense square matrix of doubles, and the Jacobians that are kept in it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "../../core/tensor.h"

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

// J(i, j) = ∂f_i/∂x_j of f: (d) → (d), as our backward gives it: row i is the gradient of f_i, by the i-th
// unit vector as dy. x is f64.
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

}  // namespace isobar::jacobian
