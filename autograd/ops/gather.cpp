// Selecting and adding with one index for each element. The formulas are for dim 0.
//
//   y = gather(x, index)             y[i, j] = x[index[i, j], j]
//                                    dx = scatter_add(0, index, dy)
//   y = scatter_add(x, index, src)   y = x, then y[index[i, j], j] += src[i, j], i in ascending order
//                                    dx = dy, dsrc = gather(dy, index), 0 beyond index

#include "../../core/kernels/lines.h"
#include "../ops.h"
#include "../tape.h"
#include "indices.h"

namespace isobar {
namespace {

// Throws unless index fits into x everywhere but along d.
void check_shapes(const char* op, const Tensor& x, int d, const Tensor& index) {
  bool fits = index.ndim() == x.ndim();
  for (int i = 0; fits && i < x.ndim(); ++i) fits = i == d || index.size(i) <= x.size(i);
  check(fits, "{}: index must have {} dimensions, none but dimension {} longer than those of x {}, got {}",
        op, x.ndim(), d, x.shape(), index.shape());
}

// scatter_add where src has the shape of the checked indices.
Tensor add_at(const Tensor& x, int d, const Tensor& at, const Tensor& src) {
  const Tensor packed = raw::contiguous(src);
  Tensor y = raw::clone(x);
  dispatch_float("scatter_add", x.dtype(), [&]<class T>() {
    kernels::scatter_add_lines(kernels::IndexedLines(at.shape(), x.shape(), d), at.data<int64_t>(),
                               packed.data<T>(), raw::write<T>(y));
  });
  return record("scatter_add", y, {x, src, at}, [d, at](const Tensor& dy, Wants wants) {
    return std::array{dy, wants[1] ? gather(dy, d, at) : Tensor(), Tensor()};
  });
}

}  // namespace

Tensor gather(const Tensor& x, int dim, const Tensor& index) {
  const int d = x.shape().index(dim);
  check_shapes("gather", x, d, index);
  const Tensor at = checked_indices("gather", index, x.size(d)), packed = raw::contiguous(x);
  Tensor y(index.shape(), x.dtype());
  dispatch_any(x.dtype(), [&]<class T>() {
    kernels::gather_lines(kernels::IndexedLines(at.shape(), x.shape(), d), at.data<int64_t>(),
                          packed.data<T>(), raw::write<T>(y));
  });
  return record({"gather", Node::Kind::lookup}, y, {x, at}, [d, at, from = x.shape()](const Tensor& dy) {
    return std::array{add_at(zeros(from, dy.dtype()), d, at, dy), Tensor()};
  });
}

Tensor scatter_add(const Tensor& x, int dim, const Tensor& index, const Tensor& src) {
  const int d = x.shape().index(dim);
  check_shapes("scatter_add", x, d, index);
  bool fits = src.ndim() == index.ndim();
  for (int i = 0; fits && i < index.ndim(); ++i) fits = index.size(i) <= src.size(i);
  check(fits, "scatter_add: src must be at least as large as index {} in every dimension, got {}",
        index.shape(), src.shape());
  check(src.dtype() == x.dtype(), "scatter_add: x is {} but src is {}; convert one with cast()", x.dtype(),
        src.dtype());
  Tensor used = src;
  for (int i = 0; i < src.ndim(); ++i)
    if (src.size(i) != index.size(i)) used = slice(used, i, 0, index.size(i));
  return add_at(x, d, checked_indices("scatter_add", index, x.size(d)), used);
}

}  // namespace isobar
