// The same values in another block of memory, another order in memory, or another dtype.
//
//   y = x    dx = dy, in the dtype of x
#include "../ops.h"
#include "../tape.h"

namespace isobar {

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

}  // namespace isobar
