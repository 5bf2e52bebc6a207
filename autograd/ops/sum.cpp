// Sums and means over any axes.
//
//   sum:     y = Σ x                               dx = dy repeated over the summed axes
//            of integers and masks an exact i64, a constant
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

Dims::Dims(std::span<const int> dims) : count_(dims.size()) {
  std::copy_n(dims.begin(), std::min(count_, dims_.size()), dims_.begin());
}

int Dims::one(const char* op, const Shape& x) const {
  check(count_ == 1, "{}: wanted one dimension of {}, got {}", op, x, all_ ? "all" : std::to_string(count_));
  return x.index(dims_[0], op);
}

namespace {

// The exact sum of integers, or of the true elements of a mask, as an i64 constant. The halves of 32 bits are added
// apart, so that no order of the elements overflows where the sum fits.
Tensor integer_sum(const Tensor& x, const Axes& over) {
  Tensor y(over.kept, Dtype::i64), fits(over.kept, Dtype::boolean);
  const Tensor packed = over.reduced_last(x);
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    int64_t* to = raw::write<int64_t>(y);
    bool* fitting = raw::write<bool>(fits);
    over.each_row(1 << 14, [&](int64_t r) {
      int64_t high = 0, low = 0;
      for (int64_t i = 0; i < over.count; ++i) {
        const auto v = static_cast<int64_t>(from[r * over.count + i]);
        low += v & 0xFFFFFFFF;
        high += (v >> 32) + (low >> 32);
        low &= 0xFFFFFFFF;
      }
      fitting[r] = high >= -(int64_t{1} << 31) && high < int64_t{1} << 31;
      to[r] = static_cast<int64_t>(static_cast<uint64_t>(high) << 32 | static_cast<uint64_t>(low));
    });
  });
  check(all(fits).item() != 0, "sum: a sum of {} {} does not fit in an i64; cast() it to f64 first",
        x.dtype(), x.shape());
  return y;
}

}  // namespace

Tensor sum_over(const Tensor& x, const Axes& over, bool keepdim) {
  if (!is_float(x.dtype())) {
    const Tensor total = integer_sum(x, over);
    return keepdim ? total : reshape(total, over.dropped);
  }
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
  const Tensor total = sum_over(x, over, keepdim);
  return (is_float(x.dtype()) ? total : raw::cast(total, Dtype::f64)) / static_cast<double>(over.count);
}

Tensor sum(const Tensor& x, const Dims& dims, KeepDim keepdim) {
  return sum_over(x, Axes("sum", x.shape(), dims), keepdim);
}

Tensor mean(const Tensor& x, const Dims& dims, KeepDim keepdim) {
  return mean_over(x, Axes("mean", x.shape(), dims), keepdim);
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
  const int d = x.shape().index(dim, "cumsum");
  check(is_float(x.dtype()),
        "cumsum: wanted f32 or f64, got {}; cast() it: cumsum(cast(x, Dtype::f64), {}) is exact "
        "below 2^53",
        x.dtype(), dim);
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

Tensor logsumexp(const Tensor& x, const Dims& dims, KeepDim keepdim) {
  const Axes over("logsumexp", x.shape(), dims);
  const Tensor maximum = max(x.detach(), dims, true);
  // An infinite m is not subtracted: ∞ − ∞ has no value.
  const Tensor m = where(abs(maximum) == std::numeric_limits<double>::infinity(), 0, maximum);
  const Tensor y = log(sum_over(exp(x - m), over, true)) + m;
  return keepdim ? y : reshape(y, over.dropped);
}

}  // namespace isobar
