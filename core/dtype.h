// Dtype: the type of a tensor's elements. f32 to train, f64 to check gradients, i32 and i64 for indices,
// boolean for masks. Ops never promote: mixed dtypes throw.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>

#include "error.h"

namespace isobar {

enum class Dtype : uint8_t { f32, f64, i32, i64, boolean };

// The names, in the order of the enum. The element of a mask is a C++ bool of one byte, 0 or 1; a conversion
// to it is `!= 0`.
inline constexpr std::array<std::string_view, 5> dtype_names{"f32", "f64", "i32", "i64", "bool"};
using DtypeElements = std::tuple<float, double, int32_t, int64_t, bool>;
static_assert(sizeof(bool) == 1 && std::tuple_size_v<DtypeElements> == dtype_names.size());

// Whether this is f32 or f64.
constexpr bool is_float(Dtype dtype) { return dtype == Dtype::f32 || dtype == Dtype::f64; }
// Whether this is i32 or i64.
constexpr bool is_integer(Dtype dtype) { return dtype == Dtype::i32 || dtype == Dtype::i64; }

// Returns the name of a dtype, such as "f32".
constexpr std::string_view name_of(Dtype dtype) { return dtype_names[static_cast<size_t>(dtype)]; }
// Returns the dtype of this name. Throws Error for any other text.
Dtype dtype_from_name(std::string_view name);

// Returns the dtype whose elements are of type T: dtype_of<float>() is Dtype::f32.
template <class T, size_t i = 0>
constexpr Dtype dtype_of() {
  static_assert(i < dtype_names.size(), "a tensor holds float, double, int32_t, int64_t or bool");
  if constexpr (std::is_same_v<T, std::tuple_element_t<i, DtypeElements>>)
    return static_cast<Dtype>(i);
  else
    return dtype_of<T, i + 1>();
}

// Throws Error, naming `op`, unless the dtype is f32 or f64.
inline void check_float(std::string_view op, Dtype dtype) {
  check(is_float(dtype), "{}: wanted f32 or f64, got {}{}", op, name_of(dtype),
        dtype == Dtype::boolean ? "; convert the mask with cast()" : "");
}

// Calls body.operator()<float>() or <double>(). Throws Error, naming `op`, for other dtypes.
template <class Body>
decltype(auto) dispatch_float(std::string_view op, Dtype dtype, Body&& body) {
  check_float(op, dtype);
  if (dtype == Dtype::f32) return body.template operator()<float>();
  return body.template operator()<double>();
}

// Calls body.operator()<T>() with the element type of any dtype.
template <size_t i = 0, class Body>
constexpr decltype(auto) dispatch_any(Dtype dtype, Body&& body) {
  if constexpr (i + 1 < dtype_names.size())
    if (dtype != static_cast<Dtype>(i)) return dispatch_any<i + 1>(dtype, body);
  return body.template operator()<std::tuple_element_t<i, DtypeElements>>();
}

// Returns the bytes of one element.
constexpr size_t size_of(Dtype dtype) {
  return dispatch_any(dtype, []<class T>() { return sizeof(T); });
}

}  // namespace isobar

template <>
struct fmt::formatter<isobar::Dtype> : isobar::TextFormatter {};
