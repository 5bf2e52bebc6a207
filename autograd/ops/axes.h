// Axes: which dimensions a reduction runs over, and what remains; sum and mean over them. Not for
// users.
#pragma once

#include "../../core/parallel.h"
#include "../../core/raw.h"
#include "../ops.h"

namespace isobar {

struct Axes {
  std::vector<bool> reduced;  // per dimension
  Shape kept;                 // extents of one where reduced
  Shape dropped;              // reduced dimensions left out
  int64_t count = 1;          // elements summed into one
  int64_t rows = 1;           // results
  bool leading = true;        // only leading dimensions are reduced: a sum over rows needs no permutation

  // Throws Error, naming `op`, for an empty list or one that is too long, and for a dimension that is not there
  // or is named twice.
  Axes(std::string_view op, const Shape& shape, const Dims& dims) : reduced(shape.ndim(), dims.all()) {
    check(dims.all() || !dims.empty(),
          "{}: the list of dimensions of {} is empty; leave it out to reduce all of them", op, shape);
    check(dims.size() <= max_dims, "{}: {} dimensions of {} are named, and a tensor has at most {}", op,
          dims.size(), shape, max_dims);
    for (int dim : dims) {
      const int d = shape.index(dim, op);
      check(!reduced[d], "{}: dimension {} of {} is named twice", op, d, shape);
      reduced[d] = true;
    }
    count_up(shape);
  }

  // x as a contiguous (rows, count), not recorded.
  Tensor reduced_last(const Tensor& x) const {
    std::vector<int64_t> extents;
    Strides strides{};
    int to = 0;
    for (bool wanted : {false, true})
      for (int d = 0; d < x.ndim(); ++d)
        if (reduced[d] == wanted) {
          extents.push_back(x.size(d));
          strides[to++] = x.strides()[d];
        }
    return raw::contiguous(raw::as_strided(x, Shape(extents), strides));
  }

  // The inverse of reduced_last: a contiguous (rows, count) as a view of this shape.
  Tensor in_order(const Tensor& rows_by_count, const Shape& shape) const {
    Strides strides{};
    int64_t step = 1;
    for (bool wanted : {true, false})
      for (int d = shape.ndim() - 1; d >= 0; --d)
        if (reduced[d] == wanted) {
          strides[d] = step;
          step *= shape[d];
        }
    return raw::as_strided(rows_by_count, shape, strides);
  }

  // body(r) for each row, on all threads; `elements` of them are work enough for one.
  template <class Body>
  void each_row(int64_t elements, const Body& body) const {
    parallel_each(rows, grain_of_rows(count, elements), body);
  }

 private:
  void count_up(const Shape& shape) {
    std::vector<int64_t> with_ones, without;
    for (int d = 0; d < shape.ndim(); ++d) {
      (reduced[d] ? count : rows) *= shape[d];
      with_ones.push_back(reduced[d] ? 1 : shape[d]);
      if (!reduced[d]) without.push_back(shape[d]);
      if (reduced[d] && !without.empty()) leading = false;
    }
    if (without.empty()) leading = false;  // a sum of everything is one long row
    kept = Shape(with_ones);
    dropped = Shape(without);
  }
};

// sum() and mean() over these axes, recorded.
Tensor sum_over(const Tensor& x, const Axes& over, bool keepdim);
Tensor mean_over(const Tensor& x, const Axes& over, bool keepdim);

}  // namespace isobar
