// Losses of the difference d = input − target; dinput = dd, dtarget = −dd.
//
//   mse_loss      d²                                                dd = dy · 2d
//   l1_loss       |d|                                               dd = dy · sign(d), 0 at 0
//   huber_loss    d²/2 where |d| ≤ δ, else δ (|d| − δ/2)            dd = dy · clip(d), between −δ and δ
#include "elementwise.h"
#include "loss_terms.h"

namespace isobar {
namespace {

// d between −delta and delta; its slope is 1 inside and 0 outside. NaN stays NaN.
Tensor clip(const Tensor& d, double delta) {
  const auto inside = [delta](auto v) {
    using V = decltype(v);
    return xsimd::select(xsimd::abs(v) > V(delta), V(0), V(1));
  };
  const Tensor y = map("huber_loss", d, [delta](auto v) {
    using V = decltype(v);
    return xsimd::select(v > V(delta), V(delta), xsimd::select(v < V(-delta), V(-delta), v));
  });
  return record("huber_clip", y, {d},
                [d = d.detach(), inside](const Tensor& dy) { return dy * map("huber_loss", d, inside); });
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_loss_shapes("mse_loss", input, target);
  return reduced(square(input - target), reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_loss_shapes("l1_loss", input, target);
  const Tensor d = input - target;
  const Tensor sign = map("l1_loss", d, [](auto v) {
    using V = decltype(v);
    return xsimd::select(v > V(0), V(1), xsimd::select(v < V(0), V(-1), V(0)));
  });
  return reduced(d * sign, reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, double delta, Reduction reduction) {
  check_loss_shapes("huber_loss", input, target);
  check(delta > 0, "huber_loss: wanted a delta above 0, got {}", delta);
  const Tensor d = input - target;
  const Tensor losses = map("huber_loss", d, [delta](auto v) {
    using V = decltype(v);
    const V size = xsimd::abs(v);
    return xsimd::select(size > V(delta), V(delta) * (size - V(0.5 * delta)), V(0.5) * v * v);
  });
  const Tensor y =
      record("huber_loss", losses, {d}, [d, delta](const Tensor& dy) { return dy * clip(d, delta); });
  return reduced(y, reduction);
}

}  // namespace isobar
