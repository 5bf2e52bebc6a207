// Copies and moves of whole blocks, by views and concat.
//
//   y = repeat(x, sizes)         y[i, …] = x[i mod extent, …]; dx = Σ dy over the copies
//   y = roll(x, shift, dim)      y[…, (i + shift) mod extent, …] = x[…, i, …]; dx = roll(dy, −shift, dim)
#include <fmt/ranges.h>

#include "../ops.h"

namespace isobar {

Tensor repeat(const Tensor& x, const std::vector<int64_t>& sizes) {
  const auto count = static_cast<int>(sizes.size());
  check(count >= x.ndim() && count <= max_dims,
        "repeat: wanted a size for each of the {} dimensions of {}, and at most {} in all, got [{}]",
        x.ndim(), x.shape(), max_dims, fmt::join(sizes, ", "));
  Shape shape = x.shape();
  while (shape.ndim() < count) shape = shape.inserted(0, 1);
  Tensor y = reshape(x, shape);
  for (int d = 0; d < count; ++d) {
    check(sizes[d] >= 0, "repeat: wanted sizes of at least 0, got [{}]", fmt::join(sizes, ", "));
    if (sizes[d] == 1) continue;
    // (before d, 1, from d on), repeated in the middle.
    int64_t before = 1, rest = 1;
    for (int i = 0; i < count; ++i) (i < d ? before : rest) *= shape[i];
    shape = shape.with(d, shape[d] * sizes[d]);
    y = reshape(broadcast_to(reshape(y, {before, 1, rest}), {before, sizes[d], rest}), shape);
  }
  return y;
}

Tensor roll(const Tensor& x, int64_t shift, int dim) {
  const int d = x.shape().index(dim, "roll");
  const int64_t extent = x.size(d);
  if (extent == 0 || shift % extent == 0) return clone(x);
  const int64_t moved = (shift % extent + extent) % extent;
  return concat({slice(x, d, extent - moved, extent), slice(x, d, 0, extent - moved)}, d);
}

}  // namespace isobar
