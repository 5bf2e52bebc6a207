//   y = eˣ      dx = dy · y
//   y = ln x    dx = dy / x
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor exp(const Tensor& x) {
  Tensor y = map("exp", x, [](auto v) { return xsimd::exp(v); });
  return record("exp", y, {x}, [y](const Tensor& dy) { return dy * y; });
}

Tensor log(const Tensor& x) {
  Tensor y = map("log", x, [](auto v) { return xsimd::log(v); });
  return record("log", y, {x}, [x](const Tensor& dy) { return dy / x; });
}

}  // namespace isobar
