//   y[…, i, …] = x[…, n − 1 − i, …] along each of dims      dx = flip(dy, dims)
#include "../ops.h"
#include "../tape.h"

namespace isobar {

Tensor flip(const Tensor& x, const std::vector<int>& dims) {
  Strides strides = x.strides();
  std::array<bool, max_dims> flipped{};
  int64_t origin = 0;  // of the last element along each of dims
  for (const int dim : dims) {
    const int d = x.shape().index(dim);
    check(!flipped[d], "flip: dimension {} of {} is named twice", d, x.shape());
    flipped[d] = true;
    if (x.numel() > 0) origin += (x.size(d) - 1) * x.strides()[d];
    strides[d] = -strides[d];
  }
  const Tensor y = raw::clone(raw::as_strided(x, x.shape(), strides, origin));
  return record("flip", y, {x}, [dims](const Tensor& dy) { return flip(dy, dims); });
}

}  // namespace isobar
