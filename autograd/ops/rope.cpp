//   y = R x, a rotation of channel pairs by position     dx = R⁻¹ dy, the rotation back
// Su et al. 2021, equation 34. The map is linear, so its gradient is the same op with the angle reversed.
#include <memory>

#include "../../core/kernels/rope.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

template <class T>
Tensor rotate(const Tensor& x, const std::shared_ptr<const kernels::RopeTable<T>>& table, bool interleaved,
              T turn) {
  const Tensor packed = x.packed();
  Tensor y(x.shape(), x.dtype());
  kernels::rope(x.size(0), x.size(1), x.size(2), *table, interleaved, turn, packed.data<T>(), y.write<T>());
  return record("rope", y, {x}, [=](const Tensor& dy) { return rotate<T>(dy, table, interleaved, -turn); });
}

}  // namespace

Tensor rope(const Tensor& x, double base, int64_t start, RopeStyle style) {
  check(x.ndim() == 4, "rope: wanted (B, T, H, D), got {}", x.shape());
  check(x.size(3) % 2 == 0, "rope: D must be even, got {} in {}", x.size(3), x.shape());
  check(base > 0, "rope: wanted a base above 0, got {}", base);
  return dispatch_float("rope", x.dtype(), [&]<class T>() {
    auto table = std::make_shared<const kernels::RopeTable<T>>(x.size(1), x.size(3), base, start);
    return rotate<T>(x, table, style == RopeStyle::interleaved, T{1});
  });
}

}  // namespace isobar
