// Cutting, joining and padding along dimensions.
//
//   y = slice(x, begin, end)     dx = dy in zeros, at begin
//   y = concat(x₀, x₁, …)        dx_i = the slice of dy that came from x_i
//   stack, split, select         by composition
//
//   y = pad(x, {l, r, …})        y[…, l + i] = x[…, i], `value` elsewhere; l or r below zero crops that side
//                                dx = pad(dy, {−l, −r, …})
#include <fmt/ranges.h>

#include <algorithm>

#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// Copies `from` to the window of `to` that starts at begin[d] along each dimension d, in which it must lie.
void write_window(Tensor& to, const std::array<int64_t, max_dims>& begin, const Tensor& from) {
  if (from.numel() == 0) return;
  const Tensor packed = raw::contiguous(from);
  const Strides strides = to.shape().strides();
  // Dimensions from `last` on form one block in both.
  int last = to.ndim();
  while (last > 0 && to.size(last - 1) == packed.size(last - 1)) --last;
  last = std::max(last - 1, 0);
  int64_t block = 1, start = 0;
  for (int d = 0; d < to.ndim(); ++d) {
    start += begin[d] * strides[d];
    if (d >= last) block *= packed.size(d);
  }
  dispatch_any(to.dtype(), [&]<class T>() {
    const T* const x = packed.data<T>();
    T* const y = raw::write<T>(to) + start;
    for (int64_t i = 0; i < packed.numel() / block; ++i)
      std::copy_n(x + i * block, block, y + offset_at(i, packed.shape(), strides, last));
  });
}

// One dimension after padding: `from` of its elements, from index `first` on, are at `begin` in an extent of
// `extent`.
struct Padded {
  int64_t first, from, begin, extent;
};

Padded padded(const Shape& shape, int d, int64_t before, int64_t after) {
  const int64_t n = shape[d];
  int64_t extent = 0;
  const bool overflow =
      __builtin_add_overflow(n, before, &extent) || __builtin_add_overflow(extent, after, &extent);
  check(!overflow && before >= -n && after >= -n && extent >= 0,
        "pad: {} and {} do not fit dimension {} of {}; a negative amount may take away up to {} in all",
        before, after, d, shape, n);
  const int64_t first = before < 0 ? -before : 0, cut = after < 0 ? -after : 0;
  return {first, n - first - cut, before > 0 ? before : 0, extent};
}

}  // namespace

Tensor slice(const Tensor& x, int dim, int64_t from, int64_t to) {
  const int d = x.shape().index(dim, "slice");
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
  const int d = x.shape().index(dim, "select");
  const int64_t i = index < 0 ? index + x.size(d) : index;
  check(0 <= i && i < x.size(d), "select: index {} is outside of dimension {} of {}", index, d, x.shape());
  return reshape(slice(x, d, i, i + 1), x.shape().without(d));
}

Tensor concat(const std::vector<Tensor>& xs, int dim) {
  check(!xs.empty(), "concat: wanted at least one tensor");
  const int d = xs[0].shape().index(dim, "concat");
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
  return record("concat", y, inputs, [d, begins](const Tensor& dy) {
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
  const int64_t extent = x.size(x.shape().index(dim, "split"));
  check(size > 0 || (size == 0 && extent == 0), "split: cannot cut {} rows into pieces of {}", extent, size);
  std::vector<int64_t> sizes;
  for (int64_t begin = 0; begin < extent; begin += sizes.back())
    sizes.push_back(std::min(size, extent - begin));
  if (sizes.empty()) sizes.push_back(0);
  return split(x, sizes, dim);
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes, int dim) {
  const int64_t extent = x.size(x.shape().index(dim, "split"));
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

Tensor pad(const Tensor& x, const std::vector<int64_t>& amounts, double value) {
  check(amounts.size() % 2 == 0 && amounts.size() <= 2 * static_cast<size_t>(x.ndim()),
        "pad: wanted two numbers for each of the last dimensions of {}, got {} numbers", x.shape(),
        amounts.size());
  Shape kept = x.shape(), shape = x.shape();
  std::array<int64_t, max_dims> begin{};
  int64_t offset = 0;
  for (size_t i = 0; i < amounts.size(); i += 2) {
    const int d = x.ndim() - 1 - static_cast<int>(i / 2);
    const Padded p = padded(x.shape(), d, amounts[i], amounts[i + 1]);
    kept = kept.with(d, p.from);
    shape = shape.with(d, p.extent);
    begin[d] = p.begin;
    offset += p.first * x.strides()[d];
  }
  Tensor y = value == 0 ? zeros(shape, x.dtype()) : full(shape, value, x.dtype());
  if (kept.numel() > 0) write_window(y, begin, raw::as_strided(x, kept, x.strides(), offset));
  return record("pad", y, {x}, [amounts](const Tensor& dy) {
    std::vector<int64_t> back = amounts;
    for (int64_t& amount : back) amount = -amount;
    return pad(dy, back);
  });
}

}  // namespace isobar
