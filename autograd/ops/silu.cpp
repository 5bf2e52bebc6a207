//   silu:    y = x s(x), s = sigmoid        dx = dy · s (1 + x (1 − s))
//   swiglu:  y = silu(gate) · up            dgate = dy · up · silu'(gate), dup = dy · silu(gate)
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {
namespace {

template <class V>
V silu_slope(const V& x) {
  const V s = kernels::sigmoid(x);
  return s * (V(1) + x * (V(1) - s));
}

}  // namespace

Tensor silu(const Tensor& x) {
  if (composed_wanted()) return x * sigmoid(x);
  Tensor y = map("silu", x, [](auto v) { return v * kernels::sigmoid(v); });
  return record("silu", y, {x}, [x](const Tensor& dy) {
    return map("silu", x, dy, [](auto v, auto d) { return d * silu_slope(v); });
  });
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  if (composed_wanted()) return silu(gate) * up;
  Tensor y = map("swiglu", gate, up, [](auto g, auto u) { return g * kernels::sigmoid(g) * u; });
  return record("swiglu", y, {gate, up}, [gate, up](const Tensor& dy) {
    const Tensor dgate = map("swiglu", dy * up, gate, [](auto d, auto g) { return d * silu_slope(g); });
    const Tensor dup = map("swiglu", dy, gate, [](auto d, auto g) { return d * g * kernels::sigmoid(g); });
    return std::array{dgate, dup};
  });
}

}  // namespace isobar
