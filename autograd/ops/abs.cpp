//   abs:   y = |x|       dx = dy · sign(x): 0 at 0
//   sign:  y = sign(x)   dx = 0
#include "../ops.h"
#include "../tape.h"
#include "combine.h"

namespace isobar {

Tensor abs(const Tensor& x) {
  Tensor y = map_elements("abs", x, [](auto v) { return std::abs(v); });
  return record("abs", y, {x}, [x](const Tensor& dy) { return dy * sign(x); });
}

Tensor sign(const Tensor& x) {
  // NaN is neither above nor below zero.
  Tensor y = map_elements("sign", x, [](auto v) { return decltype(v)((v > 0) - (v < 0)); });
  return record("sign", y, {x}, [](const Tensor& dy) { return zeros(dy.shape(), dy.dtype()); });
}

}  // namespace isobar
