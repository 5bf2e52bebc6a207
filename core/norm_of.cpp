#include "norm_of.h"

#include <cmath>

#include "kernels/moments.h"
#include "raw.h"

namespace isobar {

double norm_of(const Tensor& x) {
  const Tensor numbers = raw::contiguous(x);
  return std::sqrt(dispatch_any(
      x.dtype(), [&]<class T>() { return kernels::sum_of_squares(numbers.numel(), numbers.data<T>()); }));
}

}  // namespace isobar
