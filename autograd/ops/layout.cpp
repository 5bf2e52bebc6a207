// Views: the same numbers under another shape, copied only by reshape where x is not contiguous. And copies.
//
//   y = reshape(x)         dx = reshape(dy)
//   squeeze, unsqueeze     by reshape
//   y = permute(x, order)  dx = permute(dy, order⁻¹)
//   y = broadcast_to(x), expand(x)    dx = Σ dy over what was repeated (done by the tape)
//
//   y = clone(x)           dx = dy
//   y = contiguous(x)      dx = dy
//   y = cast(x, dtype)     dx = cast(dy)
//   y = flip(x, dims)      y[…, i, …] = x[…, n − 1 − i, …] along each of dims; dx = flip(dy, dims)
#include <fmt/ranges.h>

#include <algorithm>

#include "../ops.h"
#include "../tape.h"

namespace isobar {

Shape Sizes::of(const Shape& x) const {
  check(std::count(sizes_.begin(), sizes_.end(), -1) <= 1, "reshape: wanted at most one −1, got [{}]",
        fmt::join(sizes_, ", "));
  check(sizes_.size() <= max_dims, "reshape: wanted at most {} dimensions for {}, got [{}]", max_dims, x,
        fmt::join(sizes_, ", "));
  check(std::ranges::all_of(sizes_, [](int64_t size) { return size >= -1; }),
        "reshape: wanted extents of at least 0, or one -1, for {}, got [{}]", x, fmt::join(sizes_, ", "));
  std::array<int64_t, max_dims> sizes{};
  const auto end = std::copy(sizes_.begin(), sizes_.end(), sizes.begin());
  const auto open = std::find(sizes.begin(), end, -1);
  const std::span<const int64_t> all(sizes.data(), sizes_.size());
  if (open != end) {
    *open = 1;
    const int64_t others = Shape(all).numel();
    check(others > 0 && x.numel() % others == 0, "reshape: {} has {} elements, no multiple of [{}]", x,
          x.numel(), fmt::join(sizes_, ", "));
    *open = x.numel() / others;
  }
  const Shape shape(all);
  check(shape.numel() == x.numel(), "reshape: {} has {} elements, {} has {}", x, x.numel(), shape,
        shape.numel());
  return shape;
}

Tensor reshape(const Tensor& x, const Sizes& sizes) {
  const Shape shape = sizes.of(x.shape());
  Tensor y = raw::as_strided(raw::contiguous(x), shape, shape.strides());
  return record({"reshape", Node::Kind::view}, y, {x},
                [from = x.shape()](const Tensor& dy) { return reshape(dy, from); });
}

Tensor unsqueeze(const Tensor& x, int dim) {
  check(-x.ndim() - 1 <= dim && dim <= x.ndim(), "unsqueeze: wanted {} to {} for {}, got {}", -x.ndim() - 1,
        x.ndim(), x.shape(), dim);
  check(x.ndim() < max_dims, "unsqueeze: {} has no room for a new dimension; a tensor has at most {}",
        x.shape(), max_dims);
  return reshape(x, x.shape().inserted(dim < 0 ? dim + x.ndim() + 1 : dim, 1));
}

Tensor squeeze(const Tensor& x) {
  std::vector<int64_t> sizes(x.shape().begin(), x.shape().end());
  std::erase(sizes, 1);
  return reshape(x, sizes);
}

Tensor squeeze(const Tensor& x, int dim) {
  const int d = x.shape().index(dim, "squeeze");
  return x.size(d) == 1 ? reshape(x, x.shape().without(d)) : x;
}

Tensor permute(const Tensor& x, const std::vector<int>& order) {
  const int ndim = x.ndim();
  check(static_cast<int>(order.size()) == ndim, "permute: {} dimensions named for {}", order.size(),
        x.shape());
  std::vector<int64_t> extents(ndim);
  std::vector<int> inverse(ndim, -1);
  Strides strides{};
  for (int d = 0; d < ndim; ++d) {
    const int from = x.shape().index(order[d], "permute");
    check(inverse[from] < 0, "permute: dimension {} of {} is named twice", from, x.shape());
    inverse[from] = d;
    extents[d] = x.size(from);
    strides[d] = x.strides()[from];
  }
  Tensor y = raw::as_strided(x, Shape(extents), strides);
  return record({"permute", Node::Kind::view}, y, {x},
                [inverse](const Tensor& dy) { return permute(dy, inverse); });
}

Tensor transpose(const Tensor& x, int dim0, int dim1) {
  std::vector<int> order(x.ndim());
  for (int d = 0; d < x.ndim(); ++d) order[d] = d;
  std::swap(order[x.shape().index(dim0, "transpose")], order[x.shape().index(dim1, "transpose")]);
  return permute(x, order);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check(broadcast("broadcast_to", x.shape(), shape) == shape, "broadcast_to: {} does not broadcast to {}",
        x.shape(), shape);
  Tensor y = raw::as_strided(x, shape, broadcast_strides(x.shape(), x.strides(), shape));
  return record({"broadcast_to", Node::Kind::view}, y, {x}, [](const Tensor& dy) { return dy; });
}

Tensor expand(const Tensor& x, const std::vector<int64_t>& sizes) {
  const int added = static_cast<int>(sizes.size()) - x.ndim();
  bool fits = added >= 0 && sizes.size() <= max_dims;
  std::vector<int64_t> extents = sizes;
  for (int d = 0; fits && d < static_cast<int>(sizes.size()); ++d) {
    const int64_t from = d < added ? -1 : x.size(d - added);  // −1: there is no such dimension
    if (extents[d] == -1) extents[d] = from;
    fits = extents[d] >= 0 && (from == -1 || from == 1 || from == extents[d]);
  }
  check(
      fits,
      "expand: {} does not expand to [{}]; only extents of one are repeated, new dimensions come first, and "
      "-1 keeps an extent that is there",
      x.shape(), fmt::join(sizes, ", "));
  return broadcast_to(x, Shape(extents));
}

Tensor clone(const Tensor& x) {
  return record("clone", raw::clone(x), {x}, [](Tensor dy) { return dy; });
}

Tensor contiguous(const Tensor& x) {
  if (x.is_contiguous()) return x;
  return record("contiguous", raw::clone(x), {x}, [](Tensor dy) { return dy; });
}

Tensor cast(const Tensor& x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  const Tensor y = raw::cast(x, dtype);
  if (!is_float(dtype)) return y;
  return record("cast", y, {x}, [from = x.dtype()](const Tensor& dy) { return cast(dy, from); });
}

Tensor flip(const Tensor& x, const std::vector<int>& dims) {
  Strides strides = x.strides();
  std::array<bool, max_dims> flipped{};
  int64_t origin = 0;  // of the last element along each of dims
  for (const int dim : dims) {
    const int d = x.shape().index(dim, "flip");
    check(!flipped[d], "flip: dimension {} of {} is named twice", d, x.shape());
    flipped[d] = true;
    if (x.numel() > 0) origin += (x.size(d) - 1) * x.strides()[d];
    strides[d] = -strides[d];
  }
  const Tensor y = raw::clone(raw::as_strided(x, x.shape(), strides, origin));
  return record("flip", y, {x}, [dims](const Tensor& dy) { return flip(dy, dims); });
}

}  // namespace isobar
