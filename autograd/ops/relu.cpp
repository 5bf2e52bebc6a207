//   y = max(0, x)    dx = dy where x > 0, else 0
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {
namespace {

// dy where y > 0, 0 where not. Where y is NaN, dy passes: a net that overflowed must not look like one whose
// gradient vanished. Linear in dy, so its gradient is the same gate again.
Tensor gate(Tensor dy, const Tensor& y) {
  const auto pass = [](auto d, auto v) { return xsimd::select(v <= decltype(v)(0), decltype(d)(0), d); };
  if (Tape::active() == nullptr) return map_gradient("relu", std::move(dy), y, pass);
  return record("relu_gate", map("relu", dy, y, pass), {dy},
                [y](Tensor ddx) { return gate(std::move(ddx), y); });
}

}  // namespace

Tensor relu(const Tensor& x) {
  // Written as a selection, not as max(), so that NaN stays NaN.
  Tensor y = map("relu", x, [](auto v) { return xsimd::select(v <= decltype(v)(0), decltype(v)(0), v); });
  return record("relu", y, {x}, [y = y.detach()](Tensor dy) { return gate(std::move(dy), y); });
}

}  // namespace isobar
