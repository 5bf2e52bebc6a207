// Losses between an input and a target, element by element. d = input − target; dinput = dd, dtarget = −dd.
//
//   mse_loss      d²                                                dd = dy · 2d
//   l1_loss       |d|                                               dd = dy · sign(d), 0 at 0
//   huber_loss    d²/2 where |d| ≤ δ, else δ (|d| − δ/2)            dd = dy · d, between −δ and δ
//
//   binary_cross_entropy_with_logits: x the logits, t the targets, without an exponential that overflows
//      y = max(x, 0) − x t + ln(1 + e^−|x|) = −(t ln p + (1 − t) ln(1 − p)), p = sigmoid(x)
//      dx = dy · (sigmoid(x) − t),  dt = −dy · x
#include "../pointwise.h"
#include "checks.h"
#include "elementwise.h"

namespace isobar {
namespace {

// Throws Error in the name of `op` unless both have one shape and one dtype.
void check_loss_shapes(const char* op, const Tensor& input, const Tensor& target) {
  if (input.shape() == target.shape() && input.dtype() == target.dtype()) return;
  check(input.shape() == target.shape(), "{}: input and target must have one shape, got {} and {}{}", op,
        input.shape(), target.shape(),
        input.numel() == target.numel()
            ? fmt::format("; reshape() the target to {}", input.shape())
            : "; losses do not broadcast, expand() the smaller one if that is meant");
  check_same_dtype(op, "input", input, "target", target);
}

Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::sum ? sum(losses) : mean(losses);
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_loss_shapes("mse_loss", input, target);
  return reduced(square(input - target), reduction);
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  check_loss_shapes("l1_loss", input, target);
  const Tensor d = input - target;
  return reduced(d * sign(d.detach()), reduction);
}

Tensor huber_loss(const Tensor& input, const Tensor& target, double delta, Reduction reduction) {
  check_loss_shapes("huber_loss", input, target);
  check(delta > 0, "huber_loss: wanted a delta above 0, got {}", delta);
  const auto loss = [delta](auto d) {
    return where(abs(d) > delta, delta * (abs(d) - 0.5 * delta), 0.5 * d * d);
  };
  return reduced(pointwise("huber_loss", loss, input - target), reduction);
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, Reduction reduction) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  check_loss_shapes(op, input, target);
  const Tensor losses = map(op, input, target, [](auto x, auto t) {
    const auto above = kernels::select(x < 0, decltype(x){}, x);  // NaN stays NaN
    return (above - x * t) + kernels::log1p(kernels::exp(-kernels::abs(x)));
  });
  const Tensor y =
      record(op, losses, {input, target}, [x = input, t = target](const Tensor& dy, Wants wants) {
        return std::array{wants[0] ? dy * (sigmoid(x) - t) : Tensor(), wants[1] ? -(dy * x) : Tensor()};
      });
  return reduced(y, reduction);
}

}  // namespace isobar
