// Dtype: the type of a tensor's elements. f32 to train, f64 to check gradients, i32 and i64 for indices,
// boolean for masks. Ops never promote: mixed dtypes throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "error.h"

namespace isobar {

enum class Dtype : uint8_t { f32, f64, i32, i64, boolean };

constexpr size_t size_of(Dtype dtype) {
  if (dtype == Dtype::boolean) return 1;
  return dtype == Dtype::f32 || dtype == Dtype::i32 ? 4 : 8;
}
constexpr bool is_float(Dtype dtype) { return dtype == Dtype::f32 || dtype == Dtype::f64; }
constexpr bool is_integer(Dtype dtype) { return dtype == Dtype::i32 || dtype == Dtype::i64; }

// "f32", "f64", "i32", "i64", "bool".
std::string_view name_of(Dtype dtype);
// The inverse; throws Error for any other text.
Dtype dtype_from_name(std::string_view name);

// An element of a mask is a C++ bool of one byte, 0 or 1. A conversion to it is `!= 0`.
static_assert(sizeof(bool) == 1);

template <class T>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>)
    return Dtype::f32;
  else if constexpr (std::is_same_v<T, double>)
    return Dtype::f64;
  else if constexpr (std::is_same_v<T, int32_t>)
    return Dtype::i32;
  else if constexpr (std::is_same_v<T, bool>)
    return Dtype::boolean;
  else {
    static_assert(std::is_same_v<T, int64_t>, "a tensor holds float, double, int32_t, int64_t or bool");
    return Dtype::i64;
  }
}

// Calls body.operator()<float>() or <double>(). Throws Error for other dtypes, in the name of `op`.
template <class Body>
decltype(auto) dispatch_float(std::string_view op, Dtype dtype, Body&& body) {
  check(is_float(dtype), "{}: wanted f32 or f64, got {}{}", op, name_of(dtype),
        dtype == Dtype::boolean ? "; convert the mask with cast()" : "");
  if (dtype == Dtype::f32) return body.template operator()<float>();
  return body.template operator()<double>();
}

// The same for i32 and i64.
template <class Body>
decltype(auto) dispatch_index(std::string_view op, Dtype dtype, Body&& body) {
  check(is_integer(dtype), "{}: wanted integer indices (i32 or i64), got {}", op, name_of(dtype));
  if (dtype == Dtype::i32) return body.template operator()<int32_t>();
  return body.template operator()<int64_t>();
}

// The same for any dtype.
template <class Body>
decltype(auto) dispatch_any(Dtype dtype, Body&& body) {
  if (is_float(dtype)) return dispatch_float("", dtype, body);
  if (dtype == Dtype::boolean) return body.template operator()<bool>();
  return dispatch_index("", dtype, body);
}

}  // namespace isobar

// Printed by its name; takes no format options.
template <>
struct fmt::formatter<isobar::Dtype> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  auto format(isobar::Dtype dtype, format_context& context) const {
    return format_to(context.out(), "{}", isobar::name_of(dtype));
  }
};
