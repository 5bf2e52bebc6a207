//   exp:    y = eˣ          dx = dy · y
//   log:    y = ln x        dx = dy / x
//   expm1:  y = eˣ − 1      dx = dy · (y + 1)
//   log1p:  y = ln(1 + x)   dx = dy / (1 + x)
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor exp(const Tensor& x) {
  Tensor y = map("exp", x, [](auto v) { return xsimd::exp(v); });
  return record("exp", y, {x}, [y](const Tensor& dy) { return dy * y; });
}

Tensor log(const Tensor& x) {
  Tensor y = map("log", x, [](auto v) { return xsimd::log(v); });
  return record("log", y, {x}, [x](const Tensor& dy) { return dy / x; });
}

Tensor expm1(const Tensor& x) {
  Tensor y = map("expm1", x, [](auto v) { return xsimd::expm1(v); });
  return record("expm1", y, {x}, [y](const Tensor& dy) { return dy * (y + 1); });
}

Tensor log1p(const Tensor& x) {
  Tensor y = map("log1p", x, [](auto v) { return xsimd::log1p(v); });
  return record("log1p", y, {x}, [x](const Tensor& dy) { return dy / (x + 1); });
}

}  // namespace isobar
