//   y = max x over axes     dx = dy where x = y, shared equally among ties
// A NaN among the elements makes the result NaN.
#include <cmath>

#include "../../core/parallel.h"
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"
#include "axes.h"

namespace isobar {
namespace {

// 1 where x equals its row's maximum, 0 elsewhere; a constant.
Tensor ties(const Tensor& x, const Tensor& y) {
  const Tensor packed = raw::contiguous(x),
               maxima = raw::contiguous(
                   raw::as_strided(y, x.shape(), broadcast_strides(y.shape(), y.strides(), x.shape())));
  Tensor mask(x.shape(), x.dtype());
  dispatch_float("max", x.dtype(), [&]<class T>() {
    const T *a = packed.data<T>(), *b = maxima.data<T>();
    T* m = raw::write<T>(mask);
    for (int64_t i = 0; i < x.numel(); ++i) m[i] = a[i] == b[i] ? T{1} : T{0};
  });
  return mask;
}

}  // namespace

Tensor max(const Tensor& x, const std::vector<int>& axes, bool keepdim) {
  const Axes over(x.shape(), axes);
  check(over.count > 0, "max: nothing to take the maximum of in {}", x.shape());
  const Tensor packed = over.reduced_last(x);
  Tensor y(over.kept, x.dtype());
  dispatch_float("max", x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    T* to = raw::write<T>(y);
    parallel_for(over.rows, std::max<int64_t>(1, (1 << 14) / over.count), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T best = from[r * over.count];
        for (int64_t i = 1; i < over.count; ++i) {
          const T v = from[r * over.count + i];
          if (v > best || std::isnan(v)) best = v;
          if (std::isnan(best)) break;
        }
        to[r] = best;
      }
    });
  });
  y = record("max", y, {x}, [x = x.detach(), y = y.detach(), axes](const Tensor& dy) {
    const Tensor mask = ties(x, y);
    return reshape(dy, y.shape()) / sum(mask, axes, true) * mask;
  });
  return keepdim ? y : reshape(y, over.dropped);
}

}  // namespace isobar
