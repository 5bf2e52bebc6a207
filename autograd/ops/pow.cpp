//   y = x^s    dx = dy · s · x^(s − 1), 0 for s = 0
//   y = s^x    dx = dy · y · ln s, 0 for s = 0 and x ≥ 0
//   y = a^b    da = dy · b · a^(b − 1), 0 where b = 0;    db = dy · y · ln a, 0 where a = 0 and b ≥ 0
#include "../ops.h"
#include "../tape.h"
#include "combine.h"
#include "elementwise.h"

namespace isobar {

Tensor pow(const Tensor& x, double s) {
  Tensor y = map("pow", x, [s]<class V>(V v) {
    return kernels::pow(v, kernels::splat<V>(static_cast<kernels::Number<V>>(s)));
  });
  return record("pow", y, {x}, [x, s](const Tensor& dy) {
    return s == 0 ? zeros(dy.shape(), dy.dtype()) : dy * (pow(x, s - 1) * s);
  });
}

Tensor pow(double s, const Tensor& x) {
  Tensor y = map("pow", x, [s]<class V>(V v) {
    return kernels::pow(kernels::splat<V>(static_cast<kernels::Number<V>>(s)), v);
  });
  return record("pow", y, {x}, [x, y, s](const Tensor& dy) {
    const Tensor dx = dy * (y * kernels::log(s));
    return s == 0 ? where(x >= 0, 0, dx) : dx;
  });
}

Tensor pow(const Tensor& a, const Tensor& b) {
  Tensor y = combine_floats("pow", a, b, [](auto p, auto q) { return kernels::pow(p, q); });
  return record("pow", y, {a, b}, [a, b, y](const Tensor& dy, Wants wants) {
    std::array<Tensor, 2> dx;
    // Where a slope is replaced on a higher-order tape, its own slopes would be NaN, but for the base 1. Where b is
    // 0, the slope is 0 anyway, and its own slope by b is not: there it is replaced where 0 · ∞ would be NaN only.
    const bool again = Tape::active() != nullptr;
    const auto base = [&](const Tensor& flat) { return again ? where(flat, 1, a) : a; };
    if (wants[0]) {
      const Tensor flat = again ? b == 0 && !(abs(pow(a, b - 1)) < INFINITY) : b == 0;
      dx[0] = where(flat, 0, dy * (b * pow(base(flat), b - 1)));
    }
    if (wants[1]) {
      const Tensor flat = a == 0 && b >= 0;
      dx[1] = where(flat, 0, dy * (y * log(base(flat))));
    }
    return dx;
  });
}

}  // namespace isobar
