// Bytes: a result as a text of bytes and back, to the last bit, between processes of one build.
//
//   struct Outcome { double loss; std::vector<double> losses; };
//   const std::string bytes = to_bytes(outcome);
//   outcome = from_bytes<Outcome>(bytes);
//
// For numbers, bool, enums, std::string, vector, map, pair, optional, variant, array, and structs of these:
// aggregates of up to twelve fields, without base classes and C arrays. Another type is an error of the
// compiler that says so. Any thread may call them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "../../core/error.h"

namespace isobar {

// A value of any type, for counting the fields of an aggregate; never made.
struct AnyField {
  template <class T>
  operator T() const {
    std::terminate();
  }
};

template <class T, class Fields>
inline constexpr bool has_fields = false;
template <class T, size_t... I>
inline constexpr bool has_fields<T, std::index_sequence<I...>> = requires {
  T{(static_cast<void>(I), AnyField{})...};
};

// How many values an aggregate can be made of: as many as its fields where none of them has base classes.
template <class T, size_t n = 13>
constexpr size_t field_count() {
  if constexpr (n == 0 || has_fields<T, std::make_index_sequence<n>>)
    return n;
  else
    return field_count<T, n - 1>();
}

// The fields by reference. Structured bindings have as many names as the struct has fields.
template <class T>
auto fields_of(T& value) {
  constexpr size_t n = field_count<T>();
  static_assert(n > 0 && n <= 12, "bytes: wanted a struct of one to twelve fields; give it parts");
  if constexpr (n == 1) {
    auto& [a] = value;
    return std::tie(a);
  } else if constexpr (n == 2) {
    auto& [a, b] = value;
    return std::tie(a, b);
  } else if constexpr (n == 3) {
    auto& [a, b, c] = value;
    return std::tie(a, b, c);
  } else if constexpr (n == 4) {
    auto& [a, b, c, d] = value;
    return std::tie(a, b, c, d);
  } else if constexpr (n == 5) {
    auto& [a, b, c, d, e] = value;
    return std::tie(a, b, c, d, e);
  } else if constexpr (n == 6) {
    auto& [a, b, c, d, e, f] = value;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (n == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (n == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (n == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (n == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (n == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (n == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

template <class T>
struct ByteElement {
  using type = typename T::value_type;
};
template <class Key, class T>
struct ByteElement<std::map<Key, T>> {
  using type = std::pair<Key, T>;
};

// Writes values one after the other, or reads them in the same order.
template <bool writes>
struct ByteStream {
  std::string text;
  size_t at = 0;

  void raw(void* data, size_t bytes) {
    if constexpr (writes) {
      text.append(static_cast<const char*>(data), bytes);
    } else {
      const size_t left = text.size() - at;
      check(bytes <= left, "bytes: a value of {} bytes, and {} are left", bytes, left);
      std::memcpy(data, &text[at], bytes);
      at += bytes;
    }
  }

  template <class T>
  void transfer(T& value) {
    const auto all = [&](auto&... values) { (transfer(values), ...); };
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      raw(&value, sizeof value);
    else if constexpr (requires { std::tuple_size<T>::value; })  // pair, array
      std::apply(all, value);
    else if constexpr (requires { value.insert(value.end(), *value.begin()); })
      container(value);
    else if constexpr (requires { std::variant_size<T>::value; })
      alternative(value);
    else if constexpr (requires { value.has_value(); })
      optional(value);
    else {
      static_assert(
          std::is_aggregate_v<T> && !std::is_array_v<T>,
          "bytes: a result of each() crosses between processes as bytes, and this type cannot: wanted "
          "numbers, enums, std::string, vector, map, pair, optional, variant, array, or a struct of these");
      std::apply(all, fields_of(value));
    }
  }

  // std::string, vector, map.
  template <class T>
  void container(T& value) {
    using Element = typename ByteElement<T>::type;
    uint64_t size = value.size();
    transfer(size);
    if constexpr (writes)
      for (Element element : value) transfer(element);
    else
      for (value.clear(); size > 0; --size) {
        Element element{};
        transfer(element);
        value.insert(value.end(), std::move(element));
      }
  }

  template <class... T>
  void alternative(std::variant<T...>& value) {
    uint64_t index = value.index(), i = 0;
    transfer(index);
    if constexpr (!writes) ((i++ == index ? static_cast<void>(value = T{}) : static_cast<void>(0)), ...);
    std::visit([&](auto& held) { transfer(held); }, value);
  }

  template <class T>
  void optional(std::optional<T>& value) {
    bool there = value.has_value();
    transfer(there);
    if (!there) return value.reset();
    if (!value) value.emplace();
    transfer(*value);
  }
};

// Throws Error where a length does not fit.
template <class T>
std::string to_bytes(T value) {
  ByteStream<true> stream;
  stream.transfer(value);
  return std::move(stream.text);
}
template <class T>
T from_bytes(std::string bytes) {
  static_assert(std::is_default_constructible_v<T>, "bytes: a result of each() needs a default constructor");
  T value{};
  ByteStream<false> stream{std::move(bytes)};
  stream.transfer(value);
  check(stream.at == stream.text.size(), "bytes: a text is longer than its value");
  return value;
}

}  // namespace isobar
