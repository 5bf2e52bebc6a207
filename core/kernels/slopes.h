// Slopes of one register by each input of a formula. An input that the register does not depend on has None,
// a slope that is zero by its type.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "elementary.h"

namespace isobar::kernels {

// A slope of zero: s · None is None, None + s is s.
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

// One for each input: a Lane, or None.
template <class... S>
using Slopes = std::tuple<S...>;

template <class... S>
constexpr int count(const Slopes<S...>*) {
  return (... + (std::is_same_v<S, None> ? 0 : 1));
}
template <class P>
inline constexpr int count_of = count(static_cast<const P*>(nullptr));

// Whether an input has a slope in both.
template <class... A, class... B>
constexpr bool meet(const Slopes<A...>*, const Slopes<B...>*) {
  return (... || !(std::is_same_v<A, None> || std::is_same_v<B, None>));
}
template <class P, class Q>
inline constexpr bool overlap = meet(static_cast<const P*>(nullptr), static_cast<const Q*>(nullptr));

// f(a, b) for each input.
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

}  // namespace isobar::kernels
