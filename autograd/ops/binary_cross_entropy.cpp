//   y = max(x, 0) − x t + ln(1 + e^−|x|), x the logits and t the targets
//     = −(t ln p + (1 − t) ln(1 − p)) with p = sigmoid(x), without an exponential that overflows
//   dx = dy · (sigmoid(x) − t),  dt = −dy · x
#include <array>

#include "elementwise.h"
#include "loss_terms.h"

namespace isobar {

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target, Reduction reduction) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  check_loss_shapes(op, input, target);
  const Tensor losses = map(op, input, target, [](auto x, auto t) {
    using V = decltype(x);
    const V above = xsimd::select(x < V(0), V(0), x);  // NaN stays NaN
    return (above - x * t) + xsimd::log1p(xsimd::exp(-xsimd::abs(x)));
  });
  const Tensor y =
      record(op, losses, {input, target}, [x = input, t = target](const Tensor& dy, Wants wants) {
        return std::array{wants[0] ? dy * (sigmoid(x) - t) : Tensor(), wants[1] ? -(dy * x) : Tensor()};
      });
  return reduced(y, reduction);
}

}  // namespace isobar
