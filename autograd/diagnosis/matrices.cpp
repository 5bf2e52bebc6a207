#include "matrices.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace isobar {

GradientMatrices::GradientMatrices(const Jacobian& jacobian) : jacobian_(jacobian) {
  double largest = 0, value = 0;
  for (double v : jacobian.numeric)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  for (double v : jacobian.y.to_vector<double>())
    if (std::isfinite(v)) value = std::max(value, std::abs(v));
  // Differences of f64 numbers are wrong by some 10⁻¹⁰ of the values; see GradcheckReport.
  floor_ = 1e-4 * std::max(largest, value);
}

bool GradientMatrices::skipped(int64_t k, int64_t i) const { return std::isnan(numeric(k, i)); }

bool GradientMatrices::same(double a, double b) const {
  return std::abs(a - b) <= 1e-5 * std::max({std::abs(a), std::abs(b), floor_});
}

double GradientMatrices::common_ratio() const {
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

std::vector<std::pair<std::string, double>> counts_of(const Jacobian& jacobian) {
  std::vector<std::pair<std::string, double>> counts;
  const auto add = [&](const std::string& name, const Shape& shape) {
    for (const std::vector<int>& dims : sets_of_dimensions(shape.ndim())) {
      double count = 1;
      for (int d : dims) count *= static_cast<double>(shape[d]);
      const bool known =
          std::any_of(counts.begin(), counts.end(), [&](const auto& c) { return c.second == count; });
      if (known || count < 2) continue;
      std::string text =
          dims.size() == 1 ? fmt::format("dimension {}", dims[0]) : fmt::format("{} dimensions", dims.size());
      counts.emplace_back(fmt::format("the extent of {} of {} {}", text, name, shape), count);
    }
  };
  add("y", jacobian.y.shape());
  for (const NamedInput& input : jacobian.inputs) add(input.name, input.value.shape());
  return counts;
}

std::vector<std::pair<int, int>> pairs_of_dimensions(const Shape& shape) {
  std::vector<std::pair<int, int>> pairs;
  for (int a = 0; a < shape.ndim(); ++a)
    for (int b = a + 1; b < shape.ndim(); ++b)
      if (shape[a] > 1 && shape[b] > 1) pairs.emplace_back(a, b);
  return pairs;
}

std::vector<int64_t> transposed_places(const Shape& shape, int a, int b) {
  const Shape swapped = shape.with(a, shape[b]).with(b, shape[a]);
  Strides strides = shape.strides();
  std::swap(strides[a], strides[b]);
  std::vector<int64_t> places;
  for (int64_t i = 0; i < shape.numel(); ++i) {
    int64_t rest = i, place = 0;
    for (int d = shape.ndim() - 1; d >= 0; --d) {
      place += rest % swapped[d] * strides[d];
      rest /= swapped[d];
    }
    places.push_back(place);
  }
  return places;
}

std::vector<Move> moves_along(const Shape& shape, int dim) {
  const int64_t extent = shape[dim], stride = shape.strides()[dim];
  if (extent < 2) return {};
  Move later{"shifted by one", {}}, earlier{"shifted back by one", {}}, rolled{"rolled by one", {}},
      rolled_back{"rolled back by one", {}}, reversed{"reversed", {}};
  for (int64_t i = 0; i < shape.numel(); ++i) {
    const int64_t at = i / stride % extent, origin = i - at * stride;
    later.places.push_back(at == 0 ? -1 : i - stride);
    earlier.places.push_back(at == extent - 1 ? -1 : i + stride);
    rolled.places.push_back(origin + (at + extent - 1) % extent * stride);
    rolled_back.places.push_back(origin + (at + 1) % extent * stride);
    reversed.places.push_back(origin + (extent - 1 - at) * stride);
  }
  return {later, earlier, rolled, rolled_back, reversed};
}

}  // namespace isobar
