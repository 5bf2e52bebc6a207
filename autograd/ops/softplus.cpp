//   y = ln(1 + eˣ)    dx = dy · sigmoid(x)
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor softplus(const Tensor& x) {
  // max(x, 0) + ln(1 + e^−|x|) is equal, and does not overflow.
  Tensor y = map("softplus", x, [](auto v) {
    using V = decltype(v);
    return xsimd::max(v, V(0)) + xsimd::log1p(xsimd::exp(-xsimd::abs(v)));
  });
  return record("softplus", y, {x}, [x](const Tensor& dy) { return dy * sigmoid(x); });
}

}  // namespace isobar
