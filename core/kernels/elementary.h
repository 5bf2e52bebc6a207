// The elementary functions of one argument, each once: its value on registers, and dy times its slope,
// written for registers and tensors alike. From an entry come the function of a Lane, that of a Dual (dual.h)
// and the op (autograd/ops/elementary.cpp; silu and softplus have ops of their own). A new one is an
// entry here and a line there.
//
// gradient() takes y where that is enough, else x; an op keeps only what it takes.
#pragma once

#include <numbers>

#include "lane.h"

namespace isobar::kernels {

// Registers, and registers with slopes.
template <class X>
inline constexpr bool is_register = false;
template <class T>
inline constexpr bool is_register<Lane<T>> = true;
template <class X>
concept AnyRegister = is_register<X>;

template <class F, class T>
Lane<T> apply(const Lane<T>& x) {
  return F::value(x);
}

// What gradient() takes.
struct OfX {
  static constexpr bool takes_y = false;
};
struct OfY {
  static constexpr bool takes_y = true;
};

struct Exp : OfY {
  static auto value(const auto& x) { return kernels::exp(x.v); }
  static auto gradient(const auto& dy, const auto& y) { return dy * y; }
};
auto exp(const AnyRegister auto& x) { return apply<Exp>(x); }

struct Expm1 : OfY {
  static auto value(const auto& x) { return kernels::expm1(x.v); }
  static auto gradient(const auto& dy, const auto& y) { return dy * (y + 1); }
};
auto expm1(const AnyRegister auto& x) { return apply<Expm1>(x); }

struct Log : OfX {
  static auto value(const auto& x) { return kernels::log(x.v); }
  static auto gradient(const auto& dy, const auto& x) { return dy / x; }
};
auto log(const AnyRegister auto& x) { return apply<Log>(x); }

struct Log1p : OfX {
  static auto value(const auto& x) { return kernels::log1p(x.v); }
  static auto gradient(const auto& dy, const auto& x) { return dy / (x + 1); }
};
auto log1p(const AnyRegister auto& x) { return apply<Log1p>(x); }

struct Sin : OfX {
  static auto value(const auto& x) { return kernels::sin(x.v); }
  static auto gradient(const auto& dy, const auto& x) { return dy * cos(x); }
};
auto sin(const AnyRegister auto& x) { return apply<Sin>(x); }

struct Cos : OfX {
  static auto value(const auto& x) { return kernels::cos(x.v); }
  static auto gradient(const auto& dy, const auto& x) { return -(dy * sin(x)); }
};
auto cos(const AnyRegister auto& x) { return apply<Cos>(x); }

struct Tanh : OfY {
  static auto value(const auto& x) { return kernels::tanh(x.v); }
  static auto gradient(const auto& dy, const auto& y) { return dy * (1 - square(y)); }
};
auto tanh(const AnyRegister auto& x) { return apply<Tanh>(x); }

struct Erf : OfX {
  static auto value(const auto& x) { return kernels::erf(x.v); }
  static auto gradient(const auto& dy, const auto& x) {
    return dy * exp(-square(x)) * (2 * std::numbers::inv_sqrtpi);
  }
};
auto erf(const AnyRegister auto& x) { return apply<Erf>(x); }

struct Sigmoid : OfY {
  static auto value(const auto& x) { return 1 / (1 + exp(-x)); }
  static auto gradient(const auto& dy, const auto& y) { return dy * y * (1 - y); }
};
auto sigmoid(const AnyRegister auto& x) { return apply<Sigmoid>(x); }

struct Silu : OfX {
  static auto value(const auto& x) { return x * sigmoid(x); }
  static auto gradient(const auto& dy, const auto& x) {
    const auto s = sigmoid(x);
    return dy * (s + x * s * (1 - s));
  }
};
auto silu(const AnyRegister auto& x) { return apply<Silu>(x); }

struct Softplus : OfX {
  static auto value(const auto& x) { return maximum(x, 0) + log1p(exp(-abs(x))); }  // does not overflow
  static auto gradient(const auto& dy, const auto& x) { return dy * sigmoid(x); }
};
auto softplus(const AnyRegister auto& x) { return apply<Softplus>(x); }

struct Abs : OfX {
  static auto value(const auto& x) { return abs(x.v); }
  static auto gradient(const auto& dy, const auto& x) { return dy * sign(x); }
};
auto abs(const AnyRegister auto& x) { return apply<Abs>(x); }

struct Sqrt : OfY {
  static auto value(const auto& x) { return sqrt(x.v); }
  static auto gradient(const auto& dy, const auto& y) { return dy / (y * 2); }
};
auto sqrt(const AnyRegister auto& x) { return apply<Sqrt>(x); }

struct Rsqrt : OfY {
  static auto value(const auto& x) { return 1 / sqrt(x); }
  static auto gradient(const auto& dy, const auto& y) { return dy * (y * square(y)) * -0.5; }
};
auto rsqrt(const AnyRegister auto& x) { return apply<Rsqrt>(x); }

struct Reciprocal : OfY {
  static auto value(const auto& x) { return 1 / x; }
  static auto gradient(const auto& dy, const auto& y) { return -(dy * square(y)); }
};
auto reciprocal(const AnyRegister auto& x) { return apply<Reciprocal>(x); }

struct Square : OfX {
  static auto value(const auto& x) { return x * x; }
  static auto gradient(const auto& dy, const auto& x) { return dy * x * 2; }
};
auto square(const AnyRegister auto& x) { return apply<Square>(x); }

// Selections, not max(), so that NaN stays NaN. Where y is NaN, dy passes: a network that overflowed must not look
// like one whose gradient vanished.
struct Relu : OfY {
  static auto value(const auto& x) { return where(x <= 0, 0, x); }
  static auto gradient(const auto& dy, const auto& y) { return where(y <= 0, 0, dy); }
};
auto relu(const AnyRegister auto& x) { return apply<Relu>(x); }

}  // namespace isobar::kernels
