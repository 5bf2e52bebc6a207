#include "../../autograd/ops.h"
#include "properties.h"

#include <cmath>

namespace isobar::properties {

double largest_difference(const Tensor& a, const Tensor& b) {
  check(a.shape() == b.shape(), "largest_difference: wanted two tensors of one shape, got {} and {}",
        a.shape(), b.shape());
  const std::vector<double> x = cast(a, Dtype::f64).to_vector<double>(),
                            y = cast(b, Dtype::f64).to_vector<double>();
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double difference = std::abs(x[i] - y[i]);
    largest =
        std::isfinite(difference) ? std::max(largest, difference) : std::numeric_limits<double>::infinity();
  }
  return largest;
}

RowMoments row_moments(const Tensor& x) {
  const std::vector<double> values = cast(x, Dtype::f64).to_vector<double>();
  const int64_t rows = x.size(0), columns = x.numel() / rows;
  RowMoments result;
  for (int64_t r = 0; r < rows; ++r) {
    const double* row = &values[r * columns];
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < columns; ++c) sum += row[c];
    const double mean = sum / static_cast<double>(columns);
    for (int64_t c = 0; c < columns; ++c) squares += (row[c] - mean) * (row[c] - mean);
    result.mean.push_back(mean);
    result.std.push_back(std::sqrt(squares / static_cast<double>(columns)));
  }
  return result;
}

std::vector<double> row_cosines(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = cast(a, Dtype::f64).to_vector<double>(),
                            y = cast(b, Dtype::f64).to_vector<double>();
  const int64_t rows = a.size(0), columns = a.numel() / rows;
  std::vector<double> cosines;
  for (int64_t r = 0; r < rows; ++r) {
    double xy = 0, xx = 0, yy = 0;
    for (int64_t i = r * columns; i < (r + 1) * columns; ++i) {
      xy += x[i] * y[i];
      xx += x[i] * x[i];
      yy += y[i] * y[i];
    }
    cosines.push_back(xy / std::sqrt(xx * yy));
  }
  return cosines;
}

double least_cosine(const Tensor& a, const Tensor& b) {
  double least = 1;
  for (const double cosine : row_cosines(a, b)) {
    if (std::isnan(cosine)) return cosine;
    least = std::min(least, cosine);
  }
  return least;
}

}  // namespace isobar::properties
