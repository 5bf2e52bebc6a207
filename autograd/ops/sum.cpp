// Sums and means over any axes.
//
//   sum:     y = Σ x                               dx = dy repeated over the summed axes
//   cumsum:  y_i = Σ x_j over j ≤ i along dim      dx_j = Σ dy_i over i ≥ j: the same sum in reverse order
//
// By composition: mean = Σ x / n, and logsumexp = ln Σ eˣ = m + ln Σ e^(x − m), m = max x, a constant, because the
// result does not depend on it. Its dx is dy · e^(x − m) / Σ e^(x − m); dy · e^(x − y) would be shorter, but far from
// zero the rounding of y would be a factor of every element.
#include <limits>

#include "../../core/kernels/reduce.h"
#include "../tape.h"
#include "axes.h"

namespace isobar {

AxisList::AxisList(std::span<const int> axes) : count_(axes.size()) {
  check(count_ <= axes_.size(), "reduction: {} axes are named, and a tensor has {} dimensions at most",
        count_, max_dims);
  std::copy(axes.begin(), axes.end(), axes_.begin());
}

Tensor sum_over(const Tensor& x, const Axes& over, bool keepdim) {
  Tensor y(over.kept, x.dtype());
  dispatch_float("sum", x.dtype(), [&]<class T>() {
    if (over.leading) {
      const Tensor packed = raw::contiguous(x);
      kernels::column_sums(over.count, over.rows, packed.data<T>(), raw::write<T>(y));
    } else {
      const Tensor packed = over.reduced_last(x);
      kernels::row_sums(over.rows, over.count, packed.data<T>(), raw::write<T>(y));
    }
  });
  y = record("sum", y, {x}, [from = x.shape(), kept = over.kept](const Tensor& dy) {
    return broadcast_to(reshape(dy, kept), from);
  });
  return keepdim ? y : reshape(y, over.dropped);
}

Tensor mean_over(const Tensor& x, const Axes& over, bool keepdim) {
  return sum_over(x, over, keepdim) / static_cast<double>(over.count);
}

Tensor sum(const Tensor& x, const AxisList& axes, KeepDim keepdim) {
  return sum_over(x, Axes(x.shape(), axes), keepdim);
}

Tensor mean(const Tensor& x, const AxisList& axes, KeepDim keepdim) {
  return mean_over(x, Axes(x.shape(), axes), keepdim);
}

Tensor sum_to_size(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check(broadcast("sum_to_size", x.shape(), shape) == x.shape(), "sum_to_size: {} does not broadcast to {}",
        shape, x.shape());
  std::vector<int> axes;
  const int extra = x.ndim() - shape.ndim();
  for (int d = 0; d < x.ndim(); ++d)
    if (d < extra || (shape[d - extra] == 1 && x.size(d) != 1)) axes.push_back(d);
  // Only dimensions of extent one may have been added.
  if (axes.empty()) return reshape(x, shape);
  return reshape(sum(x, axes, true), shape);
}

Tensor cumsum(const Tensor& x, int dim) {
  const int d = x.shape().index(dim);
  const Tensor packed = raw::contiguous(x);
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != d) (i < d ? outer : inner) *= x.size(i);
  Tensor y(x.shape(), x.dtype());
  dispatch_float("cumsum", x.dtype(), [&]<class T>() {
    kernels::cumulative_sums(outer, x.size(d), inner, packed.data<T>(), raw::write<T>(y));
  });
  return record("cumsum", y, {x}, [d](const Tensor& dy) { return flip(cumsum(flip(dy, {d}), d), {d}); });
}

Tensor logsumexp(const Tensor& x, const AxisList& axes, KeepDim keepdim) {
  const Axes over(x.shape(), axes);
  const Tensor maximum = max(x.detach(), axes, true);
  // An infinite m is not subtracted: ∞ − ∞ has no value.
  const Tensor m = where(abs(maximum) == std::numeric_limits<double>::infinity(), 0, maximum);
  const Tensor y = log(sum_over(exp(x - m), over, true)) + m;
  return keepdim ? y : reshape(y, over.dropped);
}

}  // namespace isobar
