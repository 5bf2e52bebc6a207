//   y = R x, a rotation of channel pairs by position     dx = R⁻¹ dy, the rotation back
// Su et al. 2021, equation 34. The map is linear, so its gradient is the same op with the angle reversed.
#include <algorithm>
#include <mutex>

#include "../../core/kernels/rope.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

template <class T>
using Table = std::shared_ptr<const kernels::RopeTable<T>>;

// The table for this key. The four used last are kept: all layers and steps of a model share one, and
// computing it costs more than rotating x. Any thread may call this.
template <class T>
Table<T> table_for(const kernels::RopeKey& key) {
  static std::mutex mutex;
  static std::array<Table<T>, 4> recent;  // the last used first
  const std::lock_guard lock(mutex);
  auto place = std::find_if(recent.begin(), recent.end(),
                            [&](const Table<T>& table) { return table != nullptr && table->key == key; });
  if (place == recent.end()) *--place = std::make_shared<const kernels::RopeTable<T>>(key);
  std::rotate(recent.begin(), place, place + 1);
  return recent.front();
}

template <class T>
Tensor rotate(const Tensor& x, const Table<T>& table, bool interleaved, T turn) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  kernels::rope(x.size(0), x.size(2), *table, interleaved, turn, packed.data<T>(), raw::write<T>(y));
  return record("rope", y, {x}, [=](const Tensor& dy) { return rotate<T>(dy, table, interleaved, -turn); });
}

}  // namespace

Tensor rope(const Tensor& x, double base, int64_t start, RopeStyle style) {
  check(x.ndim() == 4, "rope: wanted (B, T, H, D), got {}", x.shape());
  check(x.size(3) % 2 == 0, "rope: D must be even, got {} in {}", x.size(3), x.shape());
  check(base > 0, "rope: wanted a base above 0, got {}", base);
  return dispatch_float("rope", x.dtype(), [&]<class T>() {
    const Table<T> table = table_for<T>({.time = x.size(1), .dim = x.size(3), .base = base, .start = start});
    return rotate<T>(x, table, style == RopeStyle::interleaved, T{1});
  });
}

}  // namespace isobar
