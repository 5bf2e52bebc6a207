//   silu:    y = x sigmoid(x)
//   swiglu:  y = silu(gate) · up
#include "../pointwise.h"

namespace isobar {

Tensor silu(const Tensor& x) {
  return pointwise(
      "silu", [](auto v) { return v * sigmoid(v); }, x);
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  return pointwise(
      "swiglu", [](auto g, auto u) { return silu(g) * u; }, gate, up);
}

}  // namespace isobar
