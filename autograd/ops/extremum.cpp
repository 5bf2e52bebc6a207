//   y = max x over axes     dx = dy where x = y, shared equally among ties; min likewise
// A NaN among the elements makes the result NaN.
#include <cmath>

#include "../../core/parallel.h"
#include "../tape.h"
#include "axes.h"

namespace isobar {
namespace {

// The element of each row that is better than all others; NaN where one is NaN.
template <class Better>
Tensor extremum(OpName op, const Tensor& x, const Axes& over, bool keepdim, const Better& better) {
  check(over.count > 0, "{}: nothing to take the {}imum of in {}", op, op, x.shape());
  const Tensor packed = over.reduced_last(x);
  Tensor y(over.kept, x.dtype());
  dispatch_float(op, x.dtype(), [&]<class T>() {
    const T* from = packed.data<T>();
    T* to = raw::write<T>(y);
    parallel_for(over.rows, std::max<int64_t>(1, (1 << 14) / over.count), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        T best = from[r * over.count];
        for (int64_t i = 1; i < over.count; ++i) {
          const T v = from[r * over.count + i];
          if (better(v, best) || std::isnan(v)) best = v;
          if (std::isnan(best)) break;
        }
        to[r] = best;
      }
    });
  });
  y = record(op, y, {x}, [x = x.detach(), y = y.detach(), over](const Tensor& dy) {
    const Tensor ties = cast(x == y, x.dtype());
    return reshape(dy, y.shape()) / sum_over(ties, over, true) * ties;
  });
  return keepdim ? y : reshape(y, over.dropped);
}

Tensor max_over(const Tensor& x, const Axes& over, bool keepdim) {
  return extremum("max", x, over, keepdim, [](auto v, auto best) { return v > best; });
}

Tensor min_over(const Tensor& x, const Axes& over, bool keepdim) {
  return extremum("min", x, over, keepdim, [](auto v, auto best) { return v < best; });
}

}  // namespace

Tensor max(const Tensor& x) { return max_over(x, Axes(x.shape()), false); }
Tensor max(const Tensor& x, const AxisList& axes, KeepDim keepdim) {
  return max_over(x, Axes(x.shape(), axes), keepdim);
}

Tensor min(const Tensor& x) { return min_over(x, Axes(x.shape()), false); }
Tensor min(const Tensor& x, const AxisList& axes, KeepDim keepdim) {
  return min_over(x, Axes(x.shape(), axes), keepdim);
}

}  // namespace isobar
