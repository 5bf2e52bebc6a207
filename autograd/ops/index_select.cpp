// Picking by index. index and index_add are each other's gradient.
//
//   y[…, j, …] = x[…, i_j, …]      dx[…, i_j, …] += dy[…, j, …]
//   y[…, i_j, …] += x[…, j, …]     dx[…, j, …] = dy[…, i_j, …]
#include "../../core/kernels/gather.h"
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// The indices as contiguous i64, all in [0, extent).
Tensor checked(const char* op, const Tensor& indices, int64_t extent) {
  check(is_integer(indices.dtype()), "{}: wanted integer indices (i32 or i64), got {}", op, indices.dtype());
  const Tensor result =
      raw::contiguous((indices.dtype() == Dtype::i64 ? indices : raw::cast(indices, Dtype::i64))).detach();
  const int64_t* index = result.data<int64_t>();
  for (int64_t j = 0; j < result.numel(); ++j)
    check(index[j] >= 0 && index[j] < extent, "{}: index {} at position {} is outside of [0, {})", op,
          index[j], j, extent);
  return result;
}

// x seen as (outer, along dim, inner).
struct Blocks {
  int64_t outer = 1, inner = 1;
  Blocks(const Shape& shape, int dim) {
    for (int d = 0; d < dim; ++d) outer *= shape[d];
    for (int d = dim + 1; d < shape.ndim(); ++d) inner *= shape[d];
  }
};

// Gathers along d; `at` has been checked.
Tensor pick(const char* op, const Tensor& x, int d, const Tensor& at) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape().with(d, at.numel()), x.dtype());
  const Blocks blocks(x.shape(), d);
  dispatch_float(op, x.dtype(), [&]<class T>() {
    kernels::gather(blocks.outer, x.size(d), blocks.inner, at.numel(), at.data<int64_t>(), packed.data<T>(),
                    raw::write<T>(y));
  });
  return record(op, y, {x},
                [d, at, extent = x.size(d)](const Tensor& dy) { return index_add(dy, d, at, extent); });
}

}  // namespace

Tensor index_select(const Tensor& x, int dim, const Tensor& indices) {
  check(indices.ndim() == 1, "index_select: wanted a list of indices, got {}", indices.shape());
  const int d = x.shape().index(dim);
  return pick("index_select", x, d, checked("index_select", indices, x.size(d)));
}

Tensor index_add(const Tensor& x, int dim, const Tensor& indices, int64_t extent) {
  const int d = x.shape().index(dim);
  check(indices.ndim() == 1 && indices.numel() == x.size(d),
        "index_add: wanted {} indices for dimension {} of {}, got {}", x.size(d), d, x.shape(),
        indices.shape());
  const Tensor at = checked("index_add", indices, extent);
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape().with(d, extent), x.dtype());
  const Blocks blocks(x.shape(), d);
  dispatch_float("index_add", x.dtype(), [&]<class T>() {
    kernels::scatter_add(blocks.outer, extent, blocks.inner, at.numel(), at.data<int64_t>(), packed.data<T>(),
                         raw::write<T>(y));
  });
  return record("index_add", y, {x}, [d, at](const Tensor& dy) { return index_select(dy, d, at); });
}

Tensor embedding(const Tensor& indices, const Tensor& weight) {
  check(weight.ndim() == 2, "embedding: weight must be (V, C), got {}", weight.shape());
  check(indices.ndim() < max_dims, "embedding: indices {} have no room for another dimension",
        indices.shape());
  const Tensor list = raw::as_strided(raw::contiguous(indices), Shape{indices.numel()}, Strides{1});
  const Tensor rows = pick("embedding", weight, 0, checked("embedding", list, weight.size(0)));
  return reshape(rows, indices.shape().inserted(indices.ndim(), weight.size(1)));
}

}  // namespace isobar
