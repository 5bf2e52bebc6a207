// Shape: the extents of a tensor, up to six, stored inline. A Shape of no dimensions is a single number.
//
//   Shape s{32, 128, 256};
//   s.ndim();      // 3
//   s[-1];         // 256: negative indices count from the back
//   s.numel();     // 1048576
//
// Shapes are plain values. Construction checks that no extent is negative and that the number of elements
// fits into 63 bits.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "error.h"

namespace isobar {

// The largest number of dimensions.
inline constexpr int max_dims = 6;

// The distance between neighbours along each dimension, in elements. Entries from ndim() on are unused.
using Strides = std::array<int64_t, max_dims>;

class Shape {
 public:
  Shape() = default;
  Shape(int64_t extent) : Shape({extent}) {}  // implicit: RMSNorm(512) reads as RMSNorm({512})
  Shape(std::initializer_list<int64_t> extents)
      : Shape(std::span<const int64_t>(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const int64_t> extents);

  int ndim() const { return ndim_; }
  int64_t numel() const {
    int64_t count = 1;
    for (int d = 0; d < ndim_; ++d) count *= extents_[d];
    return count;
  }
  // The extent of `dim`, which may be negative. Throws Error if there is no such dimension.
  int64_t operator[](int dim) const { return extents_[index(dim)]; }
  const int64_t* begin() const { return extents_.data(); }
  const int64_t* end() const { return extents_.data() + ndim_; }
  bool operator==(const Shape& other) const {
    bool same = ndim_ == other.ndim_;
    for (int d = 0; d < max_dims; ++d) same &= extents_[d] == other.extents_[d];  // unused ones are zero
    return same;
  }

  // Returns `dim` as a number that is not negative. Throws Error, naming `op`, if there is no such dimension.
  int index(int dim, std::string_view op = "shape") const {
    const int i = dim < 0 ? dim + ndim_ : dim;
    if (i < 0 || i >= ndim_) [[unlikely]]
      no_such_dimension(dim, op);
    return i;
  }
  // Each of these returns another shape, and throws Error if there is no dimension `dim`.
  Shape with(int dim, int64_t extent) const;  // with one extent replaced
  Shape inserted(int dim,
                 int64_t extent) const;  // with a new dimension before `dim`; throws Error for a seventh one
  Shape without(int dim) const;          // without dimension `dim`
  // The last `count` extents.
  Shape last(int count) const;

  // The strides of row-major order.
  Strides strides() const;
  // The index of the element at this position in row-major order.
  std::vector<int64_t> index_at(int64_t position) const;
  std::string text() const;  // "[32, 128]"

 private:
  [[noreturn]] void no_such_dimension(int dim, std::string_view op) const;

  std::array<int64_t, max_dims> extents_{};
  int ndim_ = 0;
};

// Returns the shape to which both shapes broadcast, aligned at the last dimension as in NumPy. Throws Error,
// naming `op`, if they do not.
Shape broadcast(std::string_view op, const Shape& a, const Shape& b);

// Returns the offset, in elements, of the element at a position in row-major order of the first `dims`
// dimensions.
inline int64_t offset_at(int64_t position, const Shape& shape, const Strides& strides, int dims) {
  int64_t offset = 0;
  for (int d = dims - 1; d >= 0; position /= shape.begin()[d--])
    offset += position % shape.begin()[d] * strides[d];
  return offset;
}

// Returns the strides with which a tensor of shape `from` and strides `strides` is read as one of shape `to`:
// 0 where an extent of 1 is repeated. `from` must broadcast to `to`.
Strides broadcast_strides(const Shape& from, const Strides& strides, const Shape& to);

}  // namespace isobar

template <>
struct fmt::formatter<isobar::Shape> : isobar::TextFormatter {};
// fmt 11 looks for this one too, and would take a Shape for a range where fmt/ranges.h is included later.
template <>
struct fmt::formatter<const isobar::Shape> : isobar::TextFormatter {};
