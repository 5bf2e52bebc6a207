#include "evidence.h"

#include <algorithm>
#include <cmath>

#include "../../core/raw.h"
#include "../ops.h"

namespace isobar {

Evidence::Evidence(const Jacobian& jacobian, const Context& around) : j(jacobian), context(around) {
  double value = 0;
  for (double v : j.numeric)
    if (std::isfinite(v)) largest_ = std::max(largest_, std::abs(v));
  for (double v : j.y.to_vector<double>())
    if (std::isfinite(v)) value = std::max(value, std::abs(v));
  // Differences of f64 numbers are wrong by some 10⁻¹⁰ of the values; see GradcheckReport.
  const bool in_f64 = j.rounding == Rounding::none;
  precision_ = in_f64 ? 1e-5 : 2e-3;
  floor_ =
      in_f64 ? 1e-4 * std::max(largest_, value) : std::max(1e-2 * largest_, 1e3 * j.rounded / precision_);
}

bool Evidence::skipped(int64_t k, int64_t i) const { return std::isnan(numeric(k, i)); }

bool Evidence::same(double a, double b) const {
  return std::abs(a - b) <= precision_ * std::max({std::abs(a), std::abs(b), floor_});
}

bool Evidence::apart(double a, double b) const {
  return std::abs(a - b) > 1e-2 * std::max({std::abs(a), std::abs(b), 0.2 * largest_, floor_});
}

bool Evidence::right_in_column(int64_t i) const {
  for (int64_t k = 0; k < rows(); ++k)
    if (!right_at(k, i)) return false;
  return true;
}

bool Evidence::elementwise() const {
  if (rows() != columns()) return false;
  return everywhere(
      [&](int64_t k, int64_t i) { return k == i || (negligible(tape(k, i)) && negligible(numeric(k, i))); });
}

double Evidence::common_ratio() const {
  double product = 0, squares = 0;
  for (int64_t k = 0; k < rows(); ++k)
    for (int64_t i = 0; i < columns(); ++i) {
      if (skipped(k, i)) continue;
      product += tape(k, i) * numeric(k, i);
      squares += numeric(k, i) * numeric(k, i);
    }
  return squares > 0 ? product / squares : 0;
}

std::vector<std::vector<int>> sets_of_dimensions(int count) {
  std::vector<std::vector<int>> sets;
  if (count > 0) sets.push_back({count - 1});
  for (int bits = 1; bits < 1 << count; ++bits) {
    std::vector<int> dims;
    for (int d = 0; d < count; ++d)
      if (bits >> d & 1) dims.push_back(d);
    if (dims != sets.front()) sets.push_back(std::move(dims));
  }
  return sets;
}

std::vector<std::pair<int, int>> pairs_of_dimensions(const Shape& shape) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < shape.ndim(); ++a)
    for (int b = a + 1; b < shape.ndim(); ++b)
      if (shape[a] > 1 && shape[b] > 1) pairs.emplace_back(a, b);
  return pairs;
}

std::vector<std::vector<int64_t>> groups_along(const Shape& shape, const std::vector<int>& dims) {
  Shape kept = shape;
  for (int d : dims) kept = kept.with(d, 1);
  const Tensor numbered = reshape(arange(kept.numel()), kept);
  const auto group_of =
      raw::as_strided(numbered, shape, broadcast_strides(kept, kept.strides(), shape)).to_vector<int64_t>();
  std::vector<std::vector<int64_t>> groups(kept.numel());
  for (int64_t i = 0; i < shape.numel(); ++i) groups[group_of[i]].push_back(i);
  return groups;
}

std::vector<Axis> axes_of(const Shape& shape, bool of_y) {
  std::vector<Axis> axes;
  for (int d = 0; d < shape.ndim(); ++d)
    if (shape[d] > 1) axes.push_back({of_y, d, shape[d], shape.strides()[d]});
  return axes;
}

std::vector<int64_t> transposed_places(const Shape& shape, int a, int b) {
  return contiguous(transpose(reshape(arange(shape.numel()), shape), a, b)).to_vector<int64_t>();
}

}  // namespace isobar
