#include "matrix.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../../autograd/tape.h"

namespace isobar::jacobian {
namespace {

// The greater of the two; NaN stays.
double greater(double most, double value) { return value <= most || std::isnan(most) ? most : value; }

}  // namespace

Matrix matrix_of(int64_t size, const std::function<double(size_t i, size_t j)>& element) {
  Matrix a(size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) a(i, j) = element(static_cast<size_t>(i), static_cast<size_t>(j));
  return a;
}

Matrix backward_jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const int64_t d = x.numel();
  Matrix result(d);
  Tensor leaf = x.detach();
  leaf.set_trainable();
  for (int64_t i = 0; i < d; ++i) {
    Vector unit(static_cast<size_t>(d));
    unit[static_cast<size_t>(i)] = 1;
    Tape tape;
    const Vector row = tape.gradient(f(leaf), {leaf}, tensor({d}, unit))[0].to_vector<double>();
    std::copy(row.begin(), row.end(), result.values.begin() + i * d);
  }
  return result;
}

double max_abs(const Vector& v) {
  double most = 0;
  for (const double value : v) most = greater(most, std::abs(value));
  return most;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const Vector& v) { return std::sqrt(dot(v, v)); }

Vector times(const Matrix& a, const Vector& v) {
  Vector result(v.size());
  for (int64_t i = 0; i < a.size; ++i)
    for (int64_t j = 0; j < a.size; ++j)
      result[static_cast<size_t>(i)] += a(i, j) * v[static_cast<size_t>(j)];
  return result;
}

double max_difference(const Vector& a, const Vector& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = greater(most, std::abs(a[i] - b[i]));
  return most;
}

double asymmetry(const Matrix& a) {
  double most = 0;
  for (int64_t i = 0; i < a.size; ++i)
    for (int64_t j = 0; j < i; ++j) most = greater(most, std::abs(a(i, j) - a(j, i)));
  return most;
}

Rank rank_of(Matrix a, double tolerance) {
  double first = 0, kept = 0;
  for (int64_t k = 0; k < a.size; ++k) {
    // The largest entry of what is left becomes the pivot.
    int64_t row = k, column = k;
    for (int64_t i = k; i < a.size; ++i)
      for (int64_t j = k; j < a.size; ++j)
        if (std::abs(a(i, j)) > std::abs(a(row, column))) row = i, column = j;
    const double pivot = std::abs(a(row, column));
    if (k == 0) first = pivot;
    if (pivot <= tolerance * first) return {k, kept, first > 0 ? pivot / first : 0};
    kept = pivot / first;
    for (int64_t j = 0; j < a.size; ++j) std::swap(a(k, j), a(row, j));
    for (int64_t i = 0; i < a.size; ++i) std::swap(a(i, k), a(i, column));
    // Its column is cleared below it.
    for (int64_t i = k + 1; i < a.size; ++i) {
      const double factor = a(i, k) / a(k, k);
      for (int64_t j = k; j < a.size; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return {a.size, kept, 0};
}

}  // namespace isobar::jacobian
