//   silu:    y = x s(x), s = sigmoid        dx = dy · s (1 + x (1 − s))
//   swiglu:  y = silu(gate) · up            dgate = dy · up · silu'(gate), dup = dy · silu(gate)
#include "../../core/kernels/swiglu.h"
#include "../../core/raw.h"
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
  return record("silu", y, {x}, [x](Tensor dy) {
    return map_gradient("silu", std::move(dy), x, [](auto d, auto v) { return d * silu_slope(v); });
  });
}

Tensor swiglu(const Tensor& gate, const Tensor& up) {
  if (composed_wanted()) return silu(gate) * up;
  const Tensor g = raw::contiguous(gate), u = raw::contiguous(up);
  Tensor y = map("swiglu", g, u, [](auto a, auto b) { return a * kernels::sigmoid(a) * b; });
  return record("swiglu", y, {gate, up}, [g, u](Tensor upstream) {
    const Tensor dy = raw::contiguous(std::move(upstream));
    Tensor dgate(g.shape(), g.dtype()), dup = room_for_gradient(dy);
    dispatch_float("swiglu", dy.dtype(), [&]<class T>() {
      kernels::swiglu_backward(dy.numel(), g.data<T>(), u.data<T>(), dy.data<T>(), raw::write<T>(dgate),
                               raw::write<T>(dup));
    });
    return std::array{dgate, dup};
  });
}

}  // namespace isobar
