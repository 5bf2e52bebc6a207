#include "shape.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace isobar {

Shape::Shape(std::span<const int64_t> extents) {
  check(extents.size() <= max_dims, "shape: at most {} dimensions, got {}", max_dims, extents.size());
  int64_t count = 1;
  bool overflow = false;
  for (int64_t extent : extents) {
    check(extent >= 0, "shape: extents must not be negative, got {}", fmt::join(extents, ", "));
    extents_[ndim_++] = extent;
    overflow |= __builtin_mul_overflow(count, std::max<int64_t>(extent, 1), &count);
  }
  check(!overflow && count <= (int64_t{1} << 58), "shape: [{}] has more elements than 64 bits can address",
        fmt::join(extents, ", "));
}

Shape Shape::with(int dim, int64_t extent) const {
  std::array<int64_t, max_dims> extents = extents_;
  extents[index(dim)] = extent;
  return Shape(std::span<const int64_t>(extents.data(), ndim_));
}

Shape Shape::inserted(int dim, int64_t extent) const {
  check(dim >= 0 && dim <= ndim_, "shape: cannot insert dimension {} into {}", dim, *this);
  std::array<int64_t, max_dims + 1> extents{};
  std::copy(begin() + dim, end(), std::copy_n(begin(), dim, extents.begin()) + 1);
  extents[dim] = extent;
  return Shape(std::span<const int64_t>(extents.data(), ndim_ + 1));
}

Shape Shape::without(int dim) const {
  const int64_t* const removed = begin() + index(dim);
  std::array<int64_t, max_dims> extents{};
  std::copy(removed + 1, end(), std::copy(begin(), removed, extents.begin()));
  return Shape(std::span<const int64_t>(extents.data(), ndim_ - 1));
}

Shape Shape::last(int count) const {
  check(count >= 0 && count <= ndim_, "shape: {} has no last {} dimensions", *this, count);
  return Shape(std::span<const int64_t>(end() - count, count));
}

Strides Shape::strides() const {
  Strides strides{};
  int64_t step = 1;
  for (int d = ndim_ - 1; d >= 0; --d) {
    strides[d] = step;
    step *= extents_[d];
  }
  return strides;
}

std::vector<int64_t> Shape::index_at(int64_t position) const {
  std::vector<int64_t> index(static_cast<size_t>(ndim_));
  for (int d = ndim_ - 1; d >= 0; position /= extents_[d--]) index[d] = position % extents_[d];
  return index;
}

std::string Shape::text() const { return fmt::format("[{}]", fmt::join(begin(), end(), ", ")); }

void Shape::no_such_dimension(int dim, std::string_view op) const {
  throw_error(
      fmt::format("{}: {} has no dimension {}; {}", op, text(), dim,
                  ndim_ == 0 ? "it is a single number" : fmt::format("wanted {} to {}", -ndim_, ndim_ - 1)));
}

namespace {

// What a message on two shapes adds where the smaller one is the larger one without some dimensions, as a reduction
// leaves it, and would broadcast with extents of one in their place.
std::string_view keepdim_repair(const Shape& a, const Shape& b) {
  const Shape &longer = a.ndim() > b.ndim() ? a : b, &shorter = a.ndim() > b.ndim() ? b : a;
  int found = 0;
  for (const int64_t extent : longer)
    if (found < shorter.ndim() && shorter[found] == extent) ++found;
  return longer.ndim() > shorter.ndim() && found == shorter.ndim()
             ? "; is one the mean, sum or norm of the other? Then keep its dimensions: keepdim = true"
             : "";
}

}  // namespace

Shape broadcast(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const int ndim = std::max(a.ndim(), b.ndim());
  std::array<int64_t, max_dims> extents{};
  for (int d = 1; d <= ndim; ++d) {
    const int64_t x = d <= a.ndim() ? a[-d] : 1;
    const int64_t y = d <= b.ndim() ? b[-d] : 1;
    check(x == y || x == 1 || y == 1, "{}: shapes {} and {} do not broadcast (dimension {}: {} against {}){}",
          op, a, b, -d, x, y, x == y || x == 1 || y == 1 ? "" : keepdim_repair(a, b));
    extents[ndim - d] = x == 1 ? y : x;
  }
  return Shape(std::span<const int64_t>(extents.data(), ndim));
}

Strides broadcast_strides(const Shape& from, const Strides& strides, const Shape& to) {
  Strides result{};
  for (int d = 1; d <= from.ndim(); ++d) {
    const bool repeated = from[-d] == 1 && to[-d] != 1;
    result[to.ndim() - d] = repeated ? 0 : strides[from.ndim() - d];
  }
  return result;
}

}  // namespace isobar
