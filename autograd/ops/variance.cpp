// Variance and standard deviation over axes; n elements, c the correction.
//
//   var = Σ (x − mean)² / (n − c)    dx = 2 dy (x − mean) / (n − c)
//   std_dev = √var                   dvar = dy / (2 std_dev), 0 where std_dev = 0
#include "../../core/kernels/variance.h"

#include <algorithm>

#include "../ops.h"
#include "../tape.h"
#include "axes.h"

namespace isobar {
namespace {

// Centred twice: far from zero, the rounding of the first mean exceeds the spread of the numbers.
Tensor var_composed(const Tensor& x, const Axes& over, bool keepdim, double divisor) {
  const Tensor near_zero = x - mean_over(x, over, true);
  const Tensor centred = near_zero - mean_over(near_zero, over, true);
  return sum_over(square(centred), over, keepdim) / divisor;
}

Tensor var_over(const Tensor& x, const Axes& over, bool keepdim, double correction) {
  // As in PyTorch, never negative: 0 / 0 for too few elements.
  const double divisor = std::max(0.0, static_cast<double>(over.count) - correction);
  if (composed_wanted()) return var_composed(x, over, keepdim, divisor);

  const Tensor packed = over.reduced_last(x);
  Tensor y(over.kept, x.dtype()), means(over.kept, Dtype::f64);
  dispatch_float("var", x.dtype(), [&]<class T>() {
    kernels::variance(over.rows, over.count, packed.data<T>(), divisor, raw::write<T>(y),
                      raw::write<double>(means));
  });
  y = record("var", y, {x},
             [packed = packed.detach(), from = x.shape(), means, over, divisor](const Tensor& dy) {
               const Tensor upstream = raw::contiguous(dy);
               Tensor dx(packed.shape(), packed.dtype());
               dispatch_float("var", packed.dtype(), [&]<class T>() {
                 kernels::variance_backward(over.rows, over.count, packed.data<T>(), divisor,
                                            means.data<double>(), upstream.data<T>(), raw::write<T>(dx));
               });
               return over.in_order(dx, from);
             });
  return keepdim ? y : reshape(y, over.dropped);
}

Tensor std_dev_over(const Tensor& x, const Axes& over, bool keepdim, double correction) {
  const Tensor v = var_over(x, over, keepdim, correction);
  const Tensor y = sqrt(v.detach());
  return record("std_dev", y, {v}, [v](const Tensor& dy) {
    const Tensor constant = v == 0;
    return where(constant, 0, dy / (sqrt(where(constant, 1, v)) * 2));
  });
}

}  // namespace

Tensor var(const Tensor& x) { return var_over(x, Axes(x.shape()), false, 1); }
Tensor var(const Tensor& x, std::nullopt_t, KeepDim keepdim, double correction) {
  return var_over(x, Axes(x.shape()), keepdim, correction);
}
Tensor var(const Tensor& x, const AxisList& axes, KeepDim keepdim, double correction) {
  return var_over(x, Axes(x.shape(), axes), keepdim, correction);
}

Tensor std_dev(const Tensor& x) { return std_dev_over(x, Axes(x.shape()), false, 1); }
Tensor std_dev(const Tensor& x, std::nullopt_t, KeepDim keepdim, double correction) {
  return std_dev_over(x, Axes(x.shape()), keepdim, correction);
}
Tensor std_dev(const Tensor& x, const AxisList& axes, KeepDim keepdim, double correction) {
  return std_dev_over(x, Axes(x.shape(), axes), keepdim, correction);
}

}  // namespace isobar
