//   y = ln Σ eˣ = m + ln Σ e^(x − m), m = max x    dx = dy · e^(x − m) / Σ e^(x − m)
// By composition; m is a constant, because y does not depend on it. dy · e^(x − y) would be shorter, but far
// from zero the rounding of y would be a factor of every element.
#include <limits>

#include "axes.h"

namespace isobar {

Tensor logsumexp(const Tensor& x, const AxisList& axes, KeepDim keepdim) {
  const Axes over(x.shape(), axes);
  const Tensor maximum = max(x.detach(), axes, true);
  // An infinite m is not subtracted: ∞ − ∞ has no value.
  const Tensor m = where(abs(maximum) == std::numeric_limits<double>::infinity(), 0, maximum);
  const Tensor y = log(sum_over(exp(x - m), over, true)) + m;
  return keepdim ? y : reshape(y, over.dropped);
}

}  // namespace isobar
