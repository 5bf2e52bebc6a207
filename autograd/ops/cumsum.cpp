//   y_i = Σ x_j over j ≤ i along dim      dx_j = Σ dy_i over i ≥ j: the same sum in reverse order
#include "../../core/kernels/lines.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {

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

}  // namespace isobar
