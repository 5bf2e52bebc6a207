//   y = 1 / (1 + e⁻ˣ)    dx = dy · y (1 − y)
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor sigmoid(const Tensor& x) {
  Tensor y = map("sigmoid", x, [](auto v) { return kernels::sigmoid(v); });
  return record("sigmoid", y, {x}, [y](const Tensor& dy) { return dy * y * (1 - y); });
}

}  // namespace isobar
