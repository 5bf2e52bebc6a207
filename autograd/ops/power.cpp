//   reciprocal:  y = 1/x    dx = −dy · y²
//   square:      y = x²     dx = 2 dy · x
//   sqrt:        y = √x     dx = dy / (2 y)
//   rsqrt:       y = 1/√x   dx = −dy · y³ / 2
//   isru:        y = x / √(x² + c)
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor reciprocal(const Tensor& x) {
  Tensor y = map("reciprocal", x, [](auto v) { return decltype(v)(1) / v; });
  return record("reciprocal", y, {x}, [y](const Tensor& dy) { return -(dy * square(y)); });
}

Tensor square(const Tensor& x) {
  Tensor y = map("square", x, [](auto v) { return v * v; });
  return record("square", y, {x}, [x](const Tensor& dy) { return dy * x * 2; });
}

Tensor sqrt(const Tensor& x) {
  Tensor y = map("sqrt", x, [](auto v) { return xsimd::sqrt(v); });
  return record("sqrt", y, {x}, [y](const Tensor& dy) { return dy / (y * 2); });
}

Tensor rsqrt(const Tensor& x) {
  Tensor y = map("rsqrt", x, [](auto v) { return decltype(v)(1) / xsimd::sqrt(v); });
  return record("rsqrt", y, {x}, [y](const Tensor& dy) { return dy * (y * square(y)) * -0.5; });
}

Tensor isru(const Tensor& x, const Tensor& c) { return x / sqrt(square(x) + c); }

}  // namespace isobar
