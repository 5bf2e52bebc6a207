//   softplus:  y = ln(1 + eˣ)
//   mish:      y = x tanh(softplus(x))
#include "../pointwise.h"

namespace isobar {

Tensor softplus(const Tensor& x) {
  return pointwise(
      "softplus",
      [](auto v) {
        const auto line = maximum(v, 0);
        return line + log1p(exp(-abs(v)));  // ln(1 + eˣ) without overflow
      },
      x);
}

Tensor mish(const Tensor& x) {
  return pointwise(
      "mish", [](auto v) { return v * tanh(softplus(v)); }, x);
}

}  // namespace isobar
