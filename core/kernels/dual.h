// Dual: a register with its derivatives (slopes) with respect to the inputs of a formula. A formula that is
// called with duals computes its value and, by the chain rule, its derivatives; pointwise.h seeds and reads
// them. At points where a function has no derivative, the conventions are those of autograd/ops.h.
//
// The types say which slopes are zero. So nothing is multiplied by zero or added to zero, which a compiler
// may not leave out (0 · ∞ is NaN). Slopes to which the same outer functions were applied share a factor, so
// that the chain rule multiplies once for all of them. An example is tanh(a · x) with p = 1 − tanh²:
//
//   a · x            slopes by x and by a:  a, x
//   tanh(a · x)      without a shared factor  p a, p x   two products
//                    with one                 factor p, shared (a, x): no product yet; exp(tanh(a · x)) multiplies
//                                             only the factor
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "elementary.h"

namespace isobar::kernels {

// --- the slopes of one register, one for each input of a formula: None for an input on which it does not depend

// The slope zero: s · None is None, and None + s is s.
struct None {
  None() = default;
  explicit None(double) {}
  template <class X>
  friend None operator*(const X&, None) {
    return {};
  }
  template <class X>
  friend X operator+(const X& x, None) {
    return x;
  }
  template <class X>
  friend X operator+(None, const X& x) {
    return x;
  }
  friend None operator+(None, None) { return {}; }
};

// A slope for each input: a Lane, or None.
template <class... S>
using Slopes = std::tuple<S...>;

template <class... S>
constexpr int count(const Slopes<S...>*) {
  return (... + (std::is_same_v<S, None> ? 0 : 1));
}
template <class P>
inline constexpr int count_of = count(static_cast<const P*>(nullptr));

// Whether an input has a slope in A and in B.
template <class... A, class... B>
constexpr bool meet(const Slopes<A...>*, const Slopes<B...>*) {
  return (... || !(std::is_same_v<A, None> || std::is_same_v<B, None>));
}
template <class P, class Q>
inline constexpr bool overlap = meet(static_cast<const P*>(nullptr), static_cast<const Q*>(nullptr));

// Calls f(a, b) with the two slopes of each input.
template <class... A, class... B, class F>
auto zip(const Slopes<A...>& a, const Slopes<B...>& b, const F& f) {
  return [&]<size_t... i>(std::index_sequence<i...>) {
    return Slopes<decltype(f(std::get<i>(a), std::get<i>(b)))...>(f(std::get<i>(a), std::get<i>(b))...);
  }
  (std::index_sequence_for<A...>{});
}
template <class... A, class... B>
auto sum(const Slopes<A...>& a, const Slopes<B...>& b) {
  return zip(a, b, [](const auto& s, const auto& t) { return s + t; });
}
template <class T, class... S>
auto scaled(const Lane<T>& p, const Slopes<S...>& slopes) {
  return zip(slopes, slopes, [&](const auto& s, const auto&) { return p * s; });
}
template <class>
using NoneFor = None;
template <class... S>
Slopes<NoneFor<S>...> no_slopes(const Slopes<S...>&) {
  return {};
}

// --- the register and its slopes

// The slopes are plain + factor · shared.
template <class T, class Plain, class Shared>
struct Dual {
  Lane<T> value;
  Plain plain;
  Lane<T> factor;
  Shared shared;
};
template <class T, class... S>
auto with_slopes(const Lane<T>& value, const Slopes<S...>& slopes) {
  return Dual<T, Slopes<S...>, Slopes<NoneFor<S>...>>{value, slopes, 1, {}};
}
template <class T, class P, class Q>
auto slopes_of(const Dual<T, P, Q>& x) {
  return sum(x.plain, scaled(x.factor, x.shared));
}

template <class X>
inline constexpr bool is_dual = false;
template <class T, class P, class Q>
inline constexpr bool is_dual<Dual<T, P, Q>> = true;
template <class T, class P, class Q>
inline constexpr bool is_register<Dual<T, P, Q>> = true;
template <class X>
inline constexpr bool is_constant = std::is_arithmetic_v<X>;
template <class T>
inline constexpr bool is_constant<Lane<T>> = true;

template <class X>
concept AnyDual = is_dual<X>;
// The other operand of A: one of the two may be a constant, a number or a Lane.
template <class B, class A>
concept OperandWith = (is_dual<A> && (is_dual<B> || is_constant<B>)) || (is_constant<A> && is_dual<B>);

// --- the chain rule

// The chain rule for a function of one argument with derivative p. If there are two slopes or more, p becomes
// their shared factor.
template <class T, class P, class Q>
auto chain(const Dual<T, P, Q>& x, const std::type_identity_t<Lane<T>>& value,
           const std::type_identity_t<Lane<T>>& p) {
  if constexpr (count_of<Q> == 0 && count_of<P> <= 1)
    return with_slopes(value, scaled(p, x.plain));
  else if constexpr (count_of<P> == 0)
    return Dual<T, P, Q>{value, x.plain, x.factor * p, x.shared};
  else {
    const auto slopes = slopes_of(x);
    return Dual<T, decltype(no_slopes(slopes)), std::decay_t<decltype(slopes)>>{value, {}, p, slopes};
  }
}

// The chain rule for a function of two arguments with derivatives p and q. One argument keeps its shared
// factor if none of the inputs of the factor is an input of the other argument.
template <class T, class PA, class QA, class PB, class QB>
auto chain_both(const Dual<T, PA, QA>& a, const Dual<T, PB, QB>& b, const Lane<T>& value, const Lane<T>& p,
                const Lane<T>& q) {
  const auto all_a = slopes_of(a);
  const auto all_b = slopes_of(b);
  if constexpr (count_of < QA >> 0 && !overlap<QA, std::decay_t<decltype(all_b)>>) {
    const auto plain = sum(scaled(p, a.plain), scaled(q, all_b));
    return Dual<T, std::decay_t<decltype(plain)>, QA>{value, plain, p * a.factor, a.shared};
  } else if constexpr (count_of<QB> > 0 && !overlap<QB, std::decay_t<decltype(all_a)>>) {
    const auto plain = sum(scaled(p, all_a), scaled(q, b.plain));
    return Dual<T, std::decay_t<decltype(plain)>, QB>{value, plain, q * b.factor, b.shared};
  } else {
    return with_slopes(value, sum(scaled(p, all_a), scaled(q, all_b)));
  }
}

// Returns an operand as a dual with as many slopes as the other operand has; all slopes of a constant are
// None.
template <class Other, class T, class P, class Q>
const Dual<T, P, Q>& as_dual(const Other&, const Dual<T, P, Q>& x) {
  return x;
}
template <class T, class P, class Q, class Constant>
requires is_constant<Constant>
auto as_dual(const Dual<T, P, Q>& other, const Constant& x) {
  return with_slopes(Lane<T>(x), no_slopes(other.plain));
}
// What f(value of a, value of b) returns: the value, and the derivatives with respect to a and b.
template <class T>
struct Partials {
  Lane<T> value, a, b;
};
template <class A, class B, class F>
auto chain_both(const A& a, const B& b, const F& f) {
  const auto& x = as_dual(b, a);
  const auto& y = as_dual(a, b);
  const auto at = f(x.value, y.value);
  return chain_both(x, y, at.value, at.a, at.b);
}

template <class T, class P, class Q>
Lane<T> value_of(const Dual<T, P, Q>& x) {
  return x.value;
}
template <class X>
requires is_constant<X> X value_of(const X& x) { return x; }

// --- functions of two arguments

template <class A, OperandWith<A> B>
auto operator+(const A& a, const B& b) {
  return chain_both(a, b, []<class T>(Lane<T> x, Lane<T> y) -> Partials<T> { return {x + y, 1, 1}; });
}
template <class A, OperandWith<A> B>
auto operator-(const A& a, const B& b) {
  return chain_both(a, b, []<class T>(Lane<T> x, Lane<T> y) -> Partials<T> { return {x - y, 1, -1}; });
}
template <class A, OperandWith<A> B>
auto operator*(const A& a, const B& b) {
  return chain_both(a, b, []<class T>(Lane<T> x, Lane<T> y) -> Partials<T> { return {x * y, y, x}; });
}
template <class A, OperandWith<A> B>
auto operator/(const A& a, const B& b) {
  return chain_both(a, b, []<class T>(Lane<T> x, Lane<T> y) -> Partials<T> {
    return {x / y, 1 / y, -(x / y) / y};
  });
}
// The derivative is 1/2 for each of two equal operands, and 1 for NaN.
template <class A, OperandWith<A> B>
auto maximum(const A& a, const B& b) {
  return chain_both(a, b, []<class T>(Lane<T> x, Lane<T> y) -> Partials<T> {
    const Lane<T> shared = where(x == y, 0.5, Lane<T>(1));
    return {maximum(x, y), where(x < y, 0, shared), where(x > y, 0, shared)};
  });
}
template <class A, OperandWith<A> B>
auto minimum(const A& a, const B& b) {
  return -maximum(-a, -b);
}
// isru(x, c) = x q, q = 1/√(x² + c), with derivatives q³ c and −q³ x/2. The derivatives of the quotient would
// lose their digits by cancellation if x² ≫ c.
template <class A, OperandWith<A> B>
auto isru(const A& a, const B& b) {
  const auto y = chain_both(a, b, []<class T>(Lane<T> x, Lane<T> c) -> Partials<T> {
    const Lane<T> u = bounded(x, Lane<T>::isru_bound);
    return {rsqrt(u * u + c), c, u * -0.5};
  });
  using L = decltype(y.value);
  const auto q = y.value;
  return chain(y, bounded(L(value_of(a)), L::isru_bound) * q, q * q * q);
}
// With the slopes of x, for functions that are flat beyond the bound.
template <AnyDual A>
A bounded(A x, double bound) {
  x.value = bounded(x.value, bound);
  return x;
}
template <class Mask>
None choose(const Mask&, None, None) {
  return {};
}
template <class Mask, class T>
Lane<T> choose(const Mask& mask, const Lane<T>& s, None) {
  return where(mask, s, 0);
}
template <class Mask, class T>
Lane<T> choose(const Mask& mask, None, const Lane<T>& t) {
  return where(mask, 0, t);
}
template <class Mask, class T>
Lane<T> choose(const Mask& mask, const Lane<T>& s, const Lane<T>& t) {
  return where(mask, s, t);
}
// The slope of the operand that is not chosen is ignored, even if it is NaN.
template <class Mask, class A, OperandWith<A> B>
auto where(const Mask& mask, const A& a, const B& b) {
  const auto& x = as_dual(b, a);
  const auto& y = as_dual(a, b);
  return with_slopes(
      where(mask, x.value, y.value),
      zip(slopes_of(x), slopes_of(y), [&](const auto& s, const auto& t) { return choose(mask, s, t); }));
}

template <class A, OperandWith<A> B>
auto operator==(const A& a, const B& b) {
  return value_of(a) == value_of(b);
}
template <class A, OperandWith<A> B>
auto operator!=(const A& a, const B& b) {
  return value_of(a) != value_of(b);
}
template <class A, OperandWith<A> B>
auto operator<(const A& a, const B& b) {
  return value_of(a) < value_of(b);
}
template <class A, OperandWith<A> B>
auto operator<=(const A& a, const B& b) {
  return value_of(a) <= value_of(b);
}
template <class A, OperandWith<A> B>
auto operator>(const A& a, const B& b) {
  return value_of(a) > value_of(b);
}
template <class A, OperandWith<A> B>
auto operator>=(const A& a, const B& b) {
  return value_of(a) >= value_of(b);
}

// --- functions of one argument: those of elementary.h, and these

template <class F, class T, class P, class Q>
auto apply(const Dual<T, P, Q>& x) {
  const Lane<T> y = F::value(x.value), one = 1;
  if constexpr (F::takes_y)
    return chain(x, y, F::gradient(one, y));
  else
    return chain(x, y, F::gradient(one, x.value));
}

auto operator-(const AnyDual auto& x) { return chain(x, -x.value, -1); }
auto sign(const AnyDual auto& x) { return sign(x.value); }
auto pow(const AnyDual auto& x, double s) {
  return chain(x, pow(x.value, s), (s == 0 ? 0.0 : s) * pow(x.value, s == 0 ? 0 : s - 1));
}

}  // namespace isobar::kernels
