// Selecting and adding by index: whole rows, or with one index for each element (formulas for dim 0).
//
//   index_select   y[…, j, …] = x[…, i_j, …]                  dx[…, i_j, …] += dy[…, j, …]
//   index_add      y = x, then y[…, i_j, …] += src[…, j, …]   dx = dy, dsrc[…, j, …] = dy[…, i_j, …]
//   embedding      index_select of rows, under the indices' shape
//
//   y = gather(x, index)             y[i, j] = x[index[i, j], j]
//                                    dx = scatter_add(0, index, dy)
//   y = scatter_add(x, index, src)   y = x, then y[index[i, j], j] += src[i, j], i in ascending order
//                                    dx = dy, dsrc = gather(dy, index), 0 beyond index
#include "../../core/kernels/gather.h"

#include "../ops.h"
#include "../tape.h"
#include "checks.h"

namespace isobar {
namespace {

// Throws Error unless the values that are added are floats.
void check_added(const char* op, const Tensor& x) {
  check(is_float(x.dtype()),
        "{}: wanted x and src of f32 or f64, got {}; cast() both: counts in Dtype::f64 are exact below 2^53",
        op, x.dtype());
}

// x seen as (outer, along dim, inner).
struct Blocks {
  int64_t outer = 1, inner = 1;
  Blocks(const Shape& shape, int dim) {
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (int d = dim + 1; d < shape.ndim(); ++d) inner *= shape[d];
  }
};

Tensor pick(OpName op, const Tensor& x, int d, const Tensor& at);

// Zeros with `extent` along d, to which the rows of x are added; `at` has been checked.
Tensor add_rows(const Tensor& x, int d, const Tensor& at, int64_t extent) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape().with(d, extent), x.dtype());
  const Blocks blocks(x.shape(), d);
  dispatch_float("index_add", x.dtype(), [&]<class T>() {
    kernels::scatter_add(blocks.outer, extent, blocks.inner, at.numel(), at.data<int64_t>(), packed.data<T>(),
                         raw::write<T>(y));
  });
  return record("index_add", y, {x, at}, [d, at](const Tensor& dy) {
    return std::array{pick({"index_select", Node::Kind::lookup}, dy, d, at), Tensor()};
  });
}

// The rows of x along d with the indices `at`, which have been checked.
Tensor pick(OpName op, const Tensor& x, int d, const Tensor& at) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape().with(d, at.numel()), x.dtype());
  const Blocks blocks(x.shape(), d);
  dispatch_any(x.dtype(), [&]<class T>() {
    kernels::gather(blocks.outer, x.size(d), blocks.inner, at.numel(), at.data<int64_t>(), packed.data<T>(),
                    raw::write<T>(y));
  });
  if (!is_float(x.dtype())) return y;
  return record(op, y, {x, at}, [d, at, extent = x.size(d)](const Tensor& dy) {
    return std::array{add_rows(dy, d, at, extent), Tensor()};
  });
}

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

Tensor index_select(const Tensor& x, int dim, const Tensor& indices) {
  check(indices.ndim() == 1, "index_select: wanted a list of indices, got {}", indices.shape());
  const int d = x.shape().index(dim, "index_select");
  return pick({"index_select", Node::Kind::lookup}, x, d,
              checked_indices("index_select", indices, x.size(d)));
}

Tensor index_add(const Tensor& x, int dim, const Tensor& indices, const Tensor& src) {
  const int d = x.shape().index(dim, "index_add");
  check_added("index_add", x);
  check(indices.ndim() == 1 && src.shape() == x.shape().with(d, indices.numel()),
        "index_add: src must be x {} with one row for each index along dimension {}, got {} for indices {}",
        x.shape(), d, src.shape(), indices.shape());
  return x + add_rows(src, d, checked_indices("index_add", indices, x.size(d)), x.size(d));
}

Tensor embedding(const Tensor& indices, const Tensor& weight) {
  check(weight.ndim() == 2, "embedding: weight must be (V, C), got {}", weight.shape());
  check(indices.ndim() < max_dims, "embedding: indices {} have no room for another dimension",
        indices.shape());
  const Tensor list = raw::as_strided(raw::contiguous(indices), Shape{indices.numel()}, Strides{1});
  const Tensor rows =
      pick({"embedding", Node::Kind::lookup}, weight, 0, checked_indices("embedding", list, weight.size(0)));
  return reshape(rows, indices.shape().inserted(indices.ndim(), weight.size(1)));
}

Tensor gather(const Tensor& x, int dim, const Tensor& index) {
  const int d = x.shape().index(dim, "gather");
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
  const int d = x.shape().index(dim, "scatter_add");
  check_shapes("scatter_add", x, d, index);
  bool fits = src.ndim() == index.ndim();
  for (int i = 0; fits && i < index.ndim(); ++i) fits = index.size(i) <= src.size(i);
  check(fits, "scatter_add: src must be at least as large as index {} in every dimension, got {}",
        index.shape(), src.shape());
  check_added("scatter_add", x);
  check(src.dtype() == x.dtype(), "scatter_add: x is {} but src is {}; convert one with cast()", x.dtype(),
        src.dtype());
  Tensor used = src;
  for (int i = 0; i < src.ndim(); ++i)
    if (src.size(i) != index.size(i)) used = slice(used, i, 0, index.size(i));
  return add_at(x, d, checked_indices("scatter_add", index, x.size(d)), used);
}

}  // namespace isobar
