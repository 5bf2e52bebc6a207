// Arithmetic with broadcasting. The tape sums gradients over repeated dimensions.
//
//   add:       y = a + b     da = dy            db = dy
//   subtract:  y = a − b     da = dy            db = −dy
//   multiply:  y = a · b     da = dy · b        db = dy · a
//   divide:    y = a / b     da = dy / b        db = −dy · y / b
//   multiply:  y = s x       dx = s · dy
//   divide:    y = x / s     dx = dy / s
//   affine:    y = s x + t   dx = s · dy
#include "../ops.h"
#include "../tape.h"
#include "combine.h"

namespace isobar {

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = combine_floats("add", a, b, [](auto p, auto q) { return p + q; });
  return record("add", std::move(y), {a, b}, [](Tensor dy) { return std::array{dy, std::move(dy)}; });
}

Tensor subtract(const Tensor& a, const Tensor& b) {
  Tensor y = combine_floats("subtract", a, b, [](auto p, auto q) { return p - q; });
  return record("subtract", std::move(y), {a, b}, [](const Tensor& dy, Wants wants) {
    return std::array{dy, wants[1] ? -dy : Tensor()};
  });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  Tensor y = combine_floats("multiply", a, b, [](auto p, auto q) { return p * q; });
  return record("multiply", std::move(y), {a, b}, [a, b](const Tensor& dy, Wants wants) {
    return std::array{wants[0] ? dy * b : Tensor(), wants[1] ? dy * a : Tensor()};
  });
}

Tensor divide(const Tensor& a, const Tensor& b) {
  Tensor y = combine_floats("divide", a, b, [](auto p, auto q) { return p / q; });
  return record("divide", y, {a, b}, [y, b](const Tensor& dy, Wants wants) {
    const Tensor da = dy / b;
    return std::array{da, wants[1] ? -(da * y) : Tensor()};
  });
}

Tensor multiply(const Tensor& x, double s) {
  Tensor y = map_elements("multiply", x, [s](auto v) { return static_cast<decltype(v)>(s) * v; });
  return record("multiply", std::move(y), {x}, [s](const Tensor& dy) { return dy * s; });
}

// Not x · (1 / s): 49 / 49 is 1, and 1 / s may overflow where x / s does not.
Tensor divide(const Tensor& x, double s) {
  Tensor y = map_elements("divide", x, [s](auto v) { return v / static_cast<decltype(v)>(s); });
  return record("divide", std::move(y), {x}, [s](const Tensor& dy) { return dy / s; });
}

Tensor affine(const Tensor& x, double scale, double shift) {
  Tensor y = map_elements("affine", x, [scale, shift](auto v) {
    using T = decltype(v);
    return static_cast<T>(scale) * v + static_cast<T>(shift);
  });
  return record("affine", std::move(y), {x}, [scale](const Tensor& dy) { return dy * scale; });
}

}  // namespace isobar
