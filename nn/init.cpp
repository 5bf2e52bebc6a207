#include "init.h"

#include <cmath>
#include <utility>

#include "../autograd/ops.h"
#include "../core/raw.h"

namespace isobar::init {
namespace {

// U(−b, b) has variance b²/3.
Tensor uniform_of_std(const Shape& shape, double std, const Rng& rng, Dtype dtype) {
  const double bound = std * std::sqrt(3.0);
  return rng.uniform(shape, -bound, bound, dtype);
}

double xavier_std(const Shape& shape, double gain) {
  const Fans fans = fans_of(shape);
  return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
}

double he_std(const Shape& shape, double gain) {
  return gain / std::sqrt(static_cast<double>(fans_of(shape).in));
}

// Makes the columns of a (M, N), M ≥ N, row-major, orthonormal by modified Gram–Schmidt. The right-looking
// order makes both inner loops run along rows.
void orthonormalize(std::vector<double>& a, int64_t rows, int64_t cols) {
  std::vector<double> products(cols);
  for (int64_t j = 0; j < cols; ++j) {
    // Scale column j to length one.
    double squares = 0;
    for (int64_t i = 0; i < rows; ++i) squares += a[i * cols + j] * a[i * cols + j];
    check(squares > 0, "orthogonal: the random matrix does not have full rank; take another key");
    const double scale = 1 / std::sqrt(squares);
    for (int64_t i = 0; i < rows; ++i) a[i * cols + j] *= scale;
    // Compute its products with all later columns, then subtract its component from them.
    std::fill(products.begin() + j, products.end(), 0.0);
    for (int64_t i = 0; i < rows; ++i) {
      const double q = a[i * cols + j];
      for (int64_t k = j + 1; k < cols; ++k) products[k] += q * a[i * cols + k];
    }
    for (int64_t i = 0; i < rows; ++i) {
      const double q = a[i * cols + j];
      for (int64_t k = j + 1; k < cols; ++k) a[i * cols + k] -= q * products[k];
    }
  }
}

}  // namespace

Fans fans_of(const Shape& shape) {
  check(shape.ndim() >= 2, "init: wanted a weight (out, in, …) of two or more dimensions, got {}", shape);
  const int64_t rest = shape.last(shape.ndim() - 2).numel();
  return {.in = shape[1] * rest, .out = shape[0] * rest};
}

Tensor linear_default(const Shape& shape, int64_t fan_in, const Rng& rng, Dtype dtype) {
  check(fan_in > 0, "init: wanted a fan_in above 0, got {}", fan_in);
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  return rng.uniform(shape, -bound, bound, dtype);
}

Tensor xavier_uniform(const Shape& shape, const Rng& rng, double gain, Dtype dtype) {
  return uniform_of_std(shape, xavier_std(shape, gain), rng, dtype);
}
Tensor xavier_normal(const Shape& shape, const Rng& rng, double gain, Dtype dtype) {
  return rng.normal(shape, 0, xavier_std(shape, gain), dtype);
}

Tensor he_uniform(const Shape& shape, const Rng& rng, double gain, Dtype dtype) {
  return uniform_of_std(shape, he_std(shape, gain), rng, dtype);
}
Tensor he_normal(const Shape& shape, const Rng& rng, double gain, Dtype dtype) {
  return rng.normal(shape, 0, he_std(shape, gain), dtype);
}

Tensor lecun_normal(const Shape& shape, const Rng& rng, Dtype dtype) {
  return rng.normal(shape, 0, he_std(shape, 1), dtype);
}

// The Q of the QR decomposition of a normal matrix. Gram–Schmidt gives R a positive diagonal, the sign
// convention for which Q is uniform (Mezzadri 2007). A second run removes the rounding errors of the first.
Tensor orthogonal(const Shape& shape, const Rng& rng, double gain, Dtype dtype) {
  check(shape.ndim() >= 2, "orthogonal: wanted a weight (out, in, …), got {}", shape);
  const int64_t out = shape[0], in = shape.numel() / std::max<int64_t>(out, 1);
  const int64_t rows = std::max(out, in), cols = std::min(out, in);
  std::vector<double> q = rng.normal({rows, cols}, 0, 1, Dtype::f64).to_vector<double>();
  orthonormalize(q, rows, cols);
  orthonormalize(q, rows, cols);
  for (double& value : q) value *= gain;
  Tensor result = tensor<double>({rows, cols}, q);
  if (out < in) result = transpose(result);
  result = cast(reshape(result, shape), dtype);
  raw::storage(result)->drawn_with(rng.key());
  return result;
}

}  // namespace isobar::init
