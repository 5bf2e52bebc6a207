//   y = max(0, x)    dx = dy where x > 0, else 0
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {
namespace {

// dy where y > 0, 0 where not. Where y is NaN, dy passes: a net that overflowed must not look like one whose
// gradient vanished. Linear in dy, so its gradient is the same gate again.
Tensor gate(const Tensor& dy, const Tensor& y) {
  Tensor dx = map("relu", dy, y,
                  [](auto d, auto v) { return xsimd::select(v <= decltype(v)(0), decltype(d)(0), d); });
  return record("relu_gate", dx, {dy}, [y](const Tensor& ddx) { return gate(ddx, y); });
}

}  // namespace

Tensor relu(const Tensor& x) {
  // Written as a selection, not as max(), so that NaN stays NaN.
  Tensor y = map("relu", x, [](auto v) { return xsimd::select(v <= decltype(v)(0), decltype(v)(0), v); });
  return record("relu", y, {x}, [y = y.detach()](const Tensor& dy) { return gate(dy, y); });
}

}  // namespace isobar
