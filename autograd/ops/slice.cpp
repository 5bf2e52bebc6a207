// Cutting and joining along one dimension.
//
//   y = slice(x, begin, end)     dx = dy in zeros, at begin
//   y = concat(x₀, x₁, …)        dx_i = the slice of dy that came from x_i
//   stack, split, select         by composition

#include "../ops.h"
#include "../tape.h"
#include "window.h"

namespace isobar {

Tensor slice(const Tensor& x, int dim, int64_t from, int64_t to) {
  const int d = x.shape().index(dim);
  const int64_t begin = from < 0 ? from + x.size(d) : from, end = to < 0 ? to + x.size(d) : to;
  check(0 <= begin && begin <= end && end <= x.size(d),
        "slice: wanted 0 <= begin <= end <= {} along dimension {} of {}, got {} and {}", x.size(d), d,
        x.shape(), from, to);
  // An empty window refers to no element; its origin could be the end of x.
  const int64_t offset = begin == end ? 0 : begin * x.strides()[d];
  Tensor y = raw::as_strided(x, x.shape().with(d, end - begin), x.strides(), offset);
  return record({"slice", Node::Kind::view}, y, {x}, [d, begin, after = x.size(d) - end](const Tensor& dy) {
    std::vector<int64_t> amounts(2 * (dy.ndim() - d));
    amounts.end()[-2] = begin;
    amounts.end()[-1] = after;
    return pad(dy, amounts);
  });
}

Tensor select(const Tensor& x, int dim, int64_t index) {
  const int d = x.shape().index(dim);
  const int64_t i = index < 0 ? index + x.size(d) : index;
  check(0 <= i && i < x.size(d), "select: index {} is outside of dimension {} of {}", index, d, x.shape());
  return reshape(slice(x, d, i, i + 1), x.shape().without(d));
}

Tensor concat(const std::vector<Tensor>& xs, int dim) {
  check(!xs.empty(), "concat: wanted at least one tensor");
  const int d = xs[0].shape().index(dim);
  std::vector<int64_t> begins{0};
  std::vector<const Tensor*> inputs;
  for (const Tensor& x : xs) {
    check(x.ndim() == xs[0].ndim() && x.dtype() == xs[0].dtype() &&
              x.shape().with(d, 0) == xs[0].shape().with(d, 0),
          "concat: along dimension {}, {} {} and {} {} do not join", d, xs[0].shape(), xs[0].dtype(),
          x.shape(), x.dtype());
    begins.push_back(begins.back() + x.size(d));
    inputs.push_back(&x);
  }
  Tensor y(xs[0].shape().with(d, begins.back()), xs[0].dtype());
  for (size_t i = 0; i < xs.size(); ++i) {
    std::array<int64_t, max_dims> begin{};
    begin[d] = begins[i];
    write_window(y, begin, xs[i]);
  }
  return record("concat", y, std::span<const Tensor* const>(inputs), [d, begins](const Tensor& dy) {
    std::vector<Tensor> dx;
    for (size_t i = 0; i + 1 < begins.size(); ++i) dx.push_back(slice(dy, d, begins[i], begins[i + 1]));
    return dx;
  });
}

Tensor stack(const std::vector<Tensor>& xs, int dim) {
  check(!xs.empty(), "stack: wanted at least one tensor");
  const int ndim = xs[0].ndim(), d = dim < 0 ? dim + ndim + 1 : dim;
  check(0 <= d && d <= ndim && ndim < max_dims, "stack: {} has no room for a new dimension {}", xs[0].shape(),
        dim);
  std::vector<Tensor> rows;
  for (const Tensor& x : xs) {
    check(x.shape() == xs[0].shape() && x.dtype() == xs[0].dtype(),
          "stack: wanted tensors of one shape and dtype, got {} {} and {} {}", xs[0].shape(), xs[0].dtype(),
          x.shape(), x.dtype());
    rows.push_back(reshape(x, x.shape().inserted(d, 1)));
  }
  return concat(rows, d);
}

std::vector<Tensor> split(const Tensor& x, int64_t size, int dim) {
  const int64_t extent = x.size(dim);
  check(size > 0 || (size == 0 && extent == 0), "split: cannot cut {} rows into pieces of {}", extent, size);
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < extent; begin += sizes.back())
    sizes.push_back(std::min(size, extent - begin));
  if (sizes.empty()) sizes.push_back(0);
  return split(x, sizes, dim);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int dim) {
  const int64_t extent = x.size(dim);
  int64_t rest = extent;
  for (const int64_t size : sizes) rest = size >= 0 && size <= rest ? rest - size : -1;
  check(rest == 0, "split: the sizes {} must add up to {}, dimension {} of {}", fmt::join(sizes, ", "),
        extent, dim, x.shape());
  std::vector<Tensor> pieces;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    pieces.push_back(slice(x, dim, begin, begin + size));
    begin += size;
  }
  return pieces;
}

}  // namespace isobar
