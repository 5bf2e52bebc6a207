// Lane: a vector register of f32 or f64 with plain names for arithmetic, for formulas that are written once.
//
//   auto mish = [](auto x) { return x * tanh(softplus(x)); };
//   Lane<float> y = mish(Lane<float>(0.5));
//
// A double or an int on either side of an operator counts as a register of that number. Functions of one
// argument but sign are in elementary.h. The names are those of autograd/ops.h, so a formula works on registers, on
// Dual (registers with slopes, dual.h) and on tensors. NaN stays NaN.
#pragma once

#include "vmath.h"

namespace isobar::kernels {

template <class T>
struct Lane {
  using V = Vec<T>;
  V v;

  // What a comparison gives. Comparisons with NaN are false, except !=.
  struct Mask {
    kernels::Mask<V> set;

    friend Mask operator&&(const Mask& a, const Mask& b) { return {a.set & b.set}; }
    friend Mask operator||(const Mask& a, const Mask& b) { return {a.set | b.set}; }
    friend Mask operator!(const Mask& a) { return {~a.set}; }
  };

  Lane(V numbers) : v(numbers) {}
  // Number by number: g++ 12 copies structs of lanes through memory otherwise.
  Lane(const Lane& x) : v(x.v) {}
  Lane& operator=(const Lane& x) {
    v = x.v;
    return *this;
  }
  Lane(double number) : v(splat<V>(static_cast<T>(number))) {}

  friend Lane operator+(const Lane& a, const Lane& b) { return a.v + b.v; }
  friend Lane operator-(const Lane& a, const Lane& b) { return a.v - b.v; }
  friend Lane operator*(const Lane& a, const Lane& b) { return a.v * b.v; }
  friend Lane operator/(const Lane& a, const Lane& b) { return a.v / b.v; }
  friend Lane operator-(const Lane& x) { return -x.v; }
  friend Mask operator==(const Lane& a, const Lane& b) { return {a.v == b.v}; }
  friend Mask operator!=(const Lane& a, const Lane& b) { return {a.v != b.v}; }
  friend Mask operator<(const Lane& a, const Lane& b) { return {a.v < b.v}; }
  friend Mask operator<=(const Lane& a, const Lane& b) { return {a.v <= b.v}; }
  friend Mask operator>(const Lane& a, const Lane& b) { return {a.v > b.v}; }
  friend Mask operator>=(const Lane& a, const Lane& b) { return {a.v >= b.v}; }

  friend Lane where(const Mask& mask, const Lane& a, const Lane& b) { return select(mask.set, a.v, b.v); }
  // The operand that is NaN, where one is.
  friend Lane maximum(const Lane& a, const Lane& b) { return where(a > b || a != a, a, b); }
  friend Lane minimum(const Lane& a, const Lane& b) { return where(a < b || a != a, a, b); }

  friend Lane sign(const Lane& x) { return where(x > 0, 1, where(x < 0, -1, 0)); }
  // The nearest number between −bound and bound: two instructions, which give their second operand where one is NaN.
  friend Lane bounded(const Lane& x, double bound) {
    const V most = splat<V>(static_cast<T>(bound)), least = splat<V>(static_cast<T>(-bound));
    return max(least, min(most, x.v));
  }
  // x / √(x² + c), which is ±1 from the bound on, where x² would soon overflow; c is far below its square.
  static constexpr double isru_bound = sizeof(T) == 4 ? 0x1p63 : 0x1p511;
  friend Lane isru(const Lane& x, const Lane& c) {
    const Lane u = bounded(x, isru_bound);
    return u * rsqrt(u * u + c);
  }
  friend Lane pow(const Lane& x, double s) { return kernels::pow(x.v, splat<V>(static_cast<T>(s))); }
};

}  // namespace isobar::kernels
