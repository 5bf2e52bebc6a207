//   y = max(0, x)²    dx = dy · 2 max(0, x)
#include "../ops.h"
#include "../tape.h"
#include "elementwise.h"

namespace isobar {

Tensor squared_relu(const Tensor& x) {
  if (composed_wanted()) return square(relu(x));
  // Written as selections, not as max(), so that NaN stays NaN.
  Tensor y = map("squared_relu", x,
                 [](auto v) { return xsimd::select(v <= decltype(v)(0), decltype(v)(0), v * v); });
  return record("squared_relu", y, {x}, [x](Tensor dy) {
    return map_gradient("squared_relu", std::move(dy), x, [](auto d, auto v) {
      return xsimd::select(v <= decltype(v)(0), decltype(v)(0), d * (v + v));
    });
  });
}

}  // namespace isobar
