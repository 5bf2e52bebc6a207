//   tanh:     y = tanh(x)            dx = dy · (1 − y²)
//   softcap:  y = c · tanh(x / c)
#include "../ops.h"
#include "../pointwise.h"
#include "elementwise.h"

namespace isobar {

Tensor tanh(const Tensor& x) {
  Tensor y = map("tanh", x, [](auto v) { return kernels::tanh(v); });
  return record("tanh", y, {x}, [y](const Tensor& dy) { return dy * (1 - square(y)); });
}

Tensor softcap(const Tensor& x, double cap) {
  check(cap > 0, "softcap: wanted a cap above 0, got {}", cap);
  return pointwise(
      "softcap", [cap](auto v) { return cap * tanh(v / cap); }, x);
}

}  // namespace isobar
