// Sums and means over any axes.
//
//   y = Σ x            dx = dy repeated over the summed axes
//   mean = Σ x / n     by composition

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

}  // namespace isobar
