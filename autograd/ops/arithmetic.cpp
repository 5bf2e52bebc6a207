// Arithmetic with broadcasting. The tape sums gradients over repeated dimensions. Of integers, sums,
// differences and products.
//
//   add:       y = a + b     da = dy            db = dy
//   subtract:  y = a − b     da = dy            db = −dy
//   multiply:  y = a · b     da = dy · b        db = dy · a
//   divide:    y = a / b     da = dy / b        db = −dy · y / b
//   multiply:  y = s x       dx = s · dy
//   divide:    y = x / s     dx = dy / s
//   affine:    y = s x + t   dx = s · dy
#include <cmath>

#include "../ops.h"
#include "../tape.h"
#include "combine.h"

namespace isobar {
namespace {

// f of two numbers. For integers `overflows` computes it, and says whether the result did not fit.
template <class F, class Overflows>
Tensor combine_numbers(const char* op, const Tensor& a, const Tensor& b, const F& f,
                       const Overflows& overflows) {
  if (!is_integer(a.dtype())) return combine_floats(op, a, b, f);
  check_one_dtype(op, a, b);
  const auto combined = [&]<class T>(T) {
    return combine<T, T>(op, a, b, [&](T p, T q) {
      T result;
      check(!overflows(p, q, &result), "{}: no {} is the result of {} and {}", op, dtype_of<T>(), p, q);
      return result;
    });
  };
  return a.dtype() == Dtype::i32 ? combined(int32_t{}) : combined(int64_t{});
}

// s as a tensor of x's integers.
Tensor integer(const char* op, double s, const Tensor& x) {
  check(std::trunc(s) == s && s >= -0x1p63 && s < 0x1p63,
        "{}: no {} is {}; give an integer, or cast() the tensor to f32 or f64", op, x.dtype(), s);
  return full({}, s, x.dtype());
}

void check_quotient(const Tensor& x) {
  check(!is_integer(x.dtype()),
        "divide: wanted f32 or f64, got {}; cast() it, and take floor() of the quotient where that is meant",
        x.dtype());
}

constexpr auto plus = [](auto p, auto q, auto* y) { return __builtin_add_overflow(p, q, y); };
constexpr auto minus = [](auto p, auto q, auto* y) { return __builtin_sub_overflow(p, q, y); };
constexpr auto times = [](auto p, auto q, auto* y) { return __builtin_mul_overflow(p, q, y); };

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor y = combine_numbers(
      "add", a, b, [](auto p, auto q) { return p + q; }, plus);
  return record("add", std::move(y), {a, b}, [](Tensor dy) { return std::array{dy, std::move(dy)}; });
}

Tensor subtract(const Tensor& a, const Tensor& b) {
  Tensor y = combine_numbers(
      "subtract", a, b, [](auto p, auto q) { return p - q; }, minus);
  return record("subtract", std::move(y), {a, b}, [](const Tensor& dy, Wants wants) {
    return std::array{dy, wants[1] ? -dy : Tensor()};
  });
}

Tensor multiply(const Tensor& a, const Tensor& b) {
  Tensor y = combine_numbers(
      "multiply", a, b, [](auto p, auto q) { return p * q; }, times);
  return record("multiply", std::move(y), {a, b}, [a, b](const Tensor& dy, Wants wants) {
    return std::array{wants[0] ? dy * b : Tensor(), wants[1] ? dy * a : Tensor()};
  });
}

Tensor divide(const Tensor& a, const Tensor& b) {
  check_quotient(a);
  Tensor y = combine_floats("divide", a, b, [](auto p, auto q) { return p / q; });
  return record("divide", y, {a, b}, [y, b](const Tensor& dy, Wants wants) {
    const Tensor da = dy / b;
    return std::array{da, wants[1] ? -(da * y) : Tensor()};
  });
}

Tensor multiply(const Tensor& x, double s) {
  if (is_integer(x.dtype())) return multiply(x, integer("multiply", s, x));
  Tensor y = map_elements("multiply", x, [s](auto v) { return static_cast<decltype(v)>(s) * v; });
  return record("multiply", std::move(y), {x}, [s](const Tensor& dy) { return dy * s; });
}

// Not x · (1 / s): 49 / 49 is 1, and 1 / s may overflow where x / s does not.
Tensor divide(const Tensor& x, double s) {
  check_quotient(x);
  Tensor y = map_elements("divide", x, [s](auto v) { return v / static_cast<decltype(v)>(s); });
  return record("divide", std::move(y), {x}, [s](const Tensor& dy) { return dy / s; });
}

Tensor affine(const Tensor& x, double scale, double shift) {
  if (is_integer(x.dtype())) {
    // x + s, x − s and s − x take one step each, so that nothing but the result must fit.
    if (scale == -1) return subtract(integer("subtract", shift, x), x);
    const Tensor scaled = scale == 1 ? x : multiply(x, scale);
    // x − s where s is the least integer: +s is none.
    const double least = x.dtype() == Dtype::i32 ? -0x1p31 : -0x1p63;
    return shift == -least ? subtract(scaled, integer("subtract", least, x))
                           : add(scaled, integer("add", shift, x));
  }
  Tensor y = map_elements("affine", x, [scale, shift](auto v) {
    using T = decltype(v);
    return static_cast<T>(scale) * v + static_cast<T>(shift);
  });
  return record("affine", std::move(y), {x}, [scale](const Tensor& dy) { return dy * scale; });
}

}  // namespace isobar
