// The elementary functions of core/kernels/elementary.h as ops:
//
//   exp:         y = eˣ                dx = dy · y
//   expm1:       y = eˣ − 1            dx = dy · (y + 1)
//   log:         y = ln x              dx = dy / x
//   log1p:       y = ln(1 + x)         dx = dy / (1 + x)
//   sin:         y = sin x             dx = dy · cos x
//   cos:         y = cos x             dx = −dy · sin x
//   tanh:        y = tanh(x)           dx = dy · (1 − y²)
//   sigmoid:     y = 1 / (1 + e⁻ˣ)     dx = dy · y (1 − y)
//   erf:         y = erf(x)            dx = dy · 2/√π e^(−x²)
//   abs:         y = |x|               dx = dy · sign(x): 0 at 0
//   sign:        y = sign(x)           dx = 0
//   floor:       y = ⌊x⌋               dx = 0
//   ceil:        y = ⌈x⌉               dx = 0
//   trunc:       y = sign(x) ⌊|x|⌋     dx = 0
//   round:       y = the nearest integer, of two the even one; dx = 0
//   reciprocal:  y = 1/x               dx = −dy · y²
//   square:      y = x²                dx = 2 dy · x
//   sqrt:        y = √x                dx = dy / (2 y)
//   rsqrt:       y = 1/√x              dx = −dy · y³ / 2
//   relu:        y = max(0, x)         dx = dy where x > 0, else 0
//   isru:        y = x q               dx = dy · c q³, dc = −dy · x q³ / 2, q = 1/√(x² + c)
//
// The slopes of isru do not cancel, as those of the quotient x / √(x² + c) do where x² ≫ c. sin and cos reduce
// arguments of any size exactly: within 3 units of the last digit up to 10³⁰.
#include "../../core/kernels/elementary.h"

#include <cmath>

#include "../../core/kernels/relu.h"
#include "../ops.h"
#include "combine.h"
#include "elementwise.h"

namespace isobar {
namespace {

// F::gradient on registers in one pass; on tensors where the walk itself is recorded.
template <class F>
Tensor gradient_of(const char* name, Tensor dy, const Tensor& taken) {
  if (Tape::active() != nullptr) return F::gradient(dy, taken);
  return map_gradient(name, std::move(dy), taken, []<class V>(V d, V v) {
    using Lane = kernels::Lane<kernels::Number<V>>;
    return F::gradient(Lane(d), Lane(v)).v;
  });
}

template <class F>
Tensor unary(OpName name, const Tensor& x) {
  Tensor y =
      map(name, x, []<class V>(V v) { return kernels::apply<F>(kernels::Lane<kernels::Number<V>>(v)).v; });
  return record(name, y, {x}, [name, taken = F::takes_y ? y : x](Tensor dy) {
    return gradient_of<F>(name, std::move(dy), taken);
  });
}

// An integer near each element: f of a number is exact.
template <class F>
Tensor to_integers(OpName name, const Tensor& x, const F& f) {
  return record(name, map_elements(name, x, f), {x},
                [](const Tensor& dy) { return zeros(dy.shape(), dy.dtype()); });
}

// dy where the bits of kernels/relu.h are set, else 0. Linear in dy, so its gradient is the same again.
Tensor gate(Tensor dy, const Tensor& bits) {
  dy = contiguous(dy);  // recorded: dx depends on the dy of the caller
  Tensor dx = room_for_gradient(dy);
  dispatch_float("relu", dy.dtype(), [&]<class T>() {
    kernels::relu_backward(dy.numel(), bits.data<int64_t>(), dy.data<T>(), raw::write<T>(dx));
  });
  return record("relu_gate", dx, {dy}, [bits](Tensor ddx) { return gate(std::move(ddx), bits); });
}

}  // namespace

Tensor exp(const Tensor& x) { return unary<kernels::Exp>("exp", x); }
Tensor expm1(const Tensor& x) { return unary<kernels::Expm1>("expm1", x); }
Tensor log(const Tensor& x) { return unary<kernels::Log>("log", x); }
Tensor log1p(const Tensor& x) { return unary<kernels::Log1p>("log1p", x); }
Tensor sin(const Tensor& x) { return unary<kernels::Sin>("sin", x); }
Tensor cos(const Tensor& x) { return unary<kernels::Cos>("cos", x); }
Tensor tanh(const Tensor& x) { return unary<kernels::Tanh>("tanh", x); }
Tensor sigmoid(const Tensor& x) { return unary<kernels::Sigmoid>("sigmoid", x); }
Tensor erf(const Tensor& x) { return unary<kernels::Erf>("erf", x); }
Tensor abs(const Tensor& x) { return unary<kernels::Abs>("abs", x); }
Tensor reciprocal(const Tensor& x) { return unary<kernels::Reciprocal>("reciprocal", x); }
Tensor square(const Tensor& x) { return unary<kernels::Square>("square", x); }
Tensor sqrt(const Tensor& x) { return unary<kernels::Sqrt>("sqrt", x); }
Tensor rsqrt(const Tensor& x) { return unary<kernels::Rsqrt>("rsqrt", x); }

Tensor relu(const Tensor& x) {
  // From so many elements on, y has left the second-level cache before backward reads it, and storing bits pays.
  constexpr int64_t gated = 1 << 18;
  if (Tape::active() != nullptr && x.numel() >= gated) {
    const Tensor packed = raw::contiguous(x);
    Tensor y(x.shape(), x.dtype()), bits({kernels::gate_words(x.numel())}, Dtype::i64);
    dispatch_float("relu", x.dtype(), [&]<class T>() {
      kernels::relu(x.numel(), packed.data<T>(), raw::write<T>(y), raw::write<int64_t>(bits));
    });
    return record("relu", y, {x}, [bits](Tensor dy) { return gate(std::move(dy), bits); });
  }
  return unary<kernels::Relu>("relu", x);
}

Tensor sign(const Tensor& x) {
  Tensor y = map("sign", x, []<class V>(V v) { return sign(kernels::Lane<kernels::Number<V>>(v)).v; });
  return record("sign", y, {x}, [](const Tensor& dy) { return zeros(dy.shape(), dy.dtype()); });
}

Tensor floor(const Tensor& x) {
  return to_integers("floor", x, [](auto v) { return std::floor(v); });
}
Tensor ceil(const Tensor& x) {
  return to_integers("ceil", x, [](auto v) { return std::ceil(v); });
}
Tensor trunc(const Tensor& x) {
  return to_integers("trunc", x, [](auto v) { return std::trunc(v); });
}
Tensor round(const Tensor& x) {
  return to_integers("round", x, [](auto v) { return std::nearbyint(v); });
}

Tensor isru(const Tensor& x, const Tensor& c) {
  // Beyond, y is ±1, and x² would soon overflow.
  const double bound =
      x.dtype() == Dtype::f32 ? kernels::Lane<float>::isru_bound : kernels::Lane<double>::isru_bound;
  Tensor y;
  {
    const NoTape pause;
    const Tensor u = clamp(x, -bound, bound);
    y = u / sqrt(square(u) + c);
  }
  return record("isru", y, {x, c}, [x, c, bound](const Tensor& dy, Wants wants) {
    const Tensor u = clamp(x, -bound, bound), q = rsqrt(square(u) + c);
    return std::array{wants[0] ? dy * (c * q * q * q) : Tensor(),
                      wants[1] ? dy * (u * q * q * q * -0.5) : Tensor()};
  });
}

}  // namespace isobar
