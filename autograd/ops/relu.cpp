//   y = max(0, x)    dx = dy where x > 0, else 0
#include "../../core/kernels/relu.h"

#include "../ops.h"
#include "elementwise.h"

namespace isobar {
namespace {

// From this many elements on, y has left the second-level cache before backward reads it, and storing bits
// pays.
constexpr int64_t gated = 1 << 18;

// dy where y > 0, else 0. Where y is NaN, dy passes: a network that overflowed must not look like one whose
// gradient vanished. Linear in dy, so its gradient is the same gate again.
Tensor gate(Tensor dy, const Tensor& y) {
  const auto pass = [](auto d, auto v) { return xsimd::select(v <= decltype(v)(0), decltype(d)(0), d); };
  if (Tape::active() == nullptr) return map_gradient("relu", std::move(dy), y, pass);
  return record("relu_gate", map("relu", dy, y, pass), {dy},
                [y](Tensor ddx) { return gate(std::move(ddx), y); });
}

// The same with the bits of kernels/relu.h instead of y.
Tensor gate_by_bits(Tensor upstream, const Tensor& bits) {
  const Tensor dy = raw::contiguous(std::move(upstream));
  Tensor dx = room_for_gradient(dy);
  dispatch_float("relu", dy.dtype(), [&]<class T>() {
    kernels::relu_backward(dy.numel(), bits.data<int64_t>(), dy.data<T>(), raw::write<T>(dx));
  });
  return record("relu_gate", dx, {dy}, [bits](Tensor ddx) { return gate_by_bits(std::move(ddx), bits); });
}

}  // namespace

Tensor relu(const Tensor& x) {
  if (Tape::active() != nullptr && x.numel() >= gated) {
    const Tensor packed = raw::contiguous(x);
    Tensor y(x.shape(), x.dtype()), bits({kernels::gate_words(x.numel())}, Dtype::i64);
    dispatch_float("relu", x.dtype(), [&]<class T>() {
      kernels::relu(x.numel(), packed.data<T>(), raw::write<T>(y), raw::write<int64_t>(bits));
    });
    return record("relu", y, {x}, [bits](Tensor dy) { return gate_by_bits(std::move(dy), bits); });
  }
  // Written as a selection, not as max(), so that NaN stays NaN.
  Tensor y = map("relu", x, [](auto v) { return xsimd::select(v <= decltype(v)(0), decltype(v)(0), v); });
  return record("relu", y, {x}, [y = y.detach()](Tensor dy) { return gate(std::move(dy), y); });
}

}  // namespace isobar
