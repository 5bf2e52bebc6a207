//   y = erf(x)    dx = dy · 2/√π e^(−x²)
#include <numbers>

#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor erf(const Tensor& x) {
  Tensor y = map("erf", x, [](auto v) { return kernels::erf(v); });
  return record("erf", y, {x},
                [x](const Tensor& dy) { return dy * exp(-square(x)) * (2 * std::numbers::inv_sqrtpi); });
}

}  // namespace isobar
