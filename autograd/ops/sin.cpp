//   sin:  y = sin x    dx = dy · cos x
//   cos:  y = cos x    dx = −dy · sin x
// Arguments of any size are reduced exactly: within 3 units of the last digit up to 10³⁰.
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor sin(const Tensor& x) {
  Tensor y = map("sin", x, [](auto v) { return kernels::sin(v); });
  return record("sin", y, {x}, [x](const Tensor& dy) { return dy * cos(x); });
}

Tensor cos(const Tensor& x) {
  Tensor y = map("cos", x, [](auto v) { return kernels::cos(v); });
  return record("cos", y, {x}, [x](const Tensor& dy) { return -(dy * sin(x)); });
}

}  // namespace isobar
