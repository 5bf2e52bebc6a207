// Arithmetic with broadcasting. The tape sums the gradients back over what was repeated.
//
//   y = a + b     da = dy            db = dy
//   y = a − b     da = dy            db = −dy
//   y = a · b     da = dy · b        db = dy · a
//   y = a / b     da = dy / b        db = −dy · y / b
//   y = s x + t   dx = s · dy
#include "../../core/kernels/map.h"
#include "../../core/raw.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

template <class F>
Tensor combine(const char* op, const Tensor& a, const Tensor& b, const F& f) {
  check(a.dtype() == b.dtype(), "{}: operands must have one dtype, got {} and {}; convert one with cast()",
        op, a.dtype(), b.dtype());
  const bool alike = a.shape() == b.shape() && a.is_contiguous() && b.is_contiguous();
  const Shape shape = alike ? a.shape() : broadcast(op, a.shape(), b.shape());
  Tensor y(shape, a.dtype());
  dispatch_float(op, a.dtype(), [&]<class T>() {
    if (alike)
      kernels::map(y.numel(), a.data<T>(), b.data<T>(), raw::write<T>(y), f);
    else
      kernels::map_broadcast(shape, a.data<T>(), broadcast_strides(a.shape(), a.strides(), shape),
                             b.data<T>(), broadcast_strides(b.shape(), b.strides(), shape), raw::write<T>(y),
                             f);
  });
  return y;
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = combine("add", a, b, [](auto p, auto q) { return p + q; });
  return record("add", y, {a, b}, [](const Tensor& dy) { return std::array{dy, dy}; });
}

Tensor subtract(const Tensor& a, const Tensor& b) {
  Tensor y = combine("subtract", a, b, [](auto p, auto q) { return p - q; });
  return record("subtract", y, {a, b}, [](const Tensor& dy, Wants wants) {
    return std::array{dy, wants[1] ? -dy : Tensor()};
  });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  Tensor y = combine("multiply", a, b, [](auto p, auto q) { return p * q; });
  return record("multiply", y, {a, b}, [a, b](const Tensor& dy, Wants wants) {
    return std::array{wants[0] ? dy * b : Tensor(), wants[1] ? dy * a : Tensor()};
  });
}

Tensor divide(const Tensor& a, const Tensor& b) {
  Tensor y = combine("divide", a, b, [](auto p, auto q) { return p / q; });
  return record("divide", y, {a, b}, [y, b](const Tensor& dy, Wants wants) {
    const Tensor da = dy / b;
    return std::array{da, wants[1] ? -(da * y) : Tensor()};
  });
}

Tensor affine(const Tensor& x, double scale, double shift) {
  const Tensor packed = raw::contiguous(x);
  Tensor y(x.shape(), x.dtype());
  dispatch_float("affine", x.dtype(), [&]<class T>() {
    kernels::map(x.numel(), packed.data<T>(), raw::write<T>(y),
                 [s = static_cast<T>(scale), t = static_cast<T>(shift)](T v) { return s * v + t; });
  });
  return record("affine", y, {x}, [scale](const Tensor& dy) { return dy * scale; });
}

}  // namespace isobar
