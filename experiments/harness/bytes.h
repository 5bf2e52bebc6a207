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
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <type_traits>
#include <utility>
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

// Writes values one after the other.
class ByteWriter {
 public:
  static constexpr bool writes = true;
  void raw(const void* data, size_t bytes) { text.append(static_cast<const char*>(data), bytes); }
  std::string text;
};

// Reads them in the same order.
class ByteReader {
 public:
  static constexpr bool writes = false;
  explicit ByteReader(std::string_view text) : rest_(text) {}
  void raw(void* data, size_t bytes) {
    check(bytes <= rest_.size(), "bytes: a value of {} bytes, and {} are left", bytes, rest_.size());
    if (bytes > 0) std::memcpy(data, rest_.data(), bytes);
    rest_.remove_prefix(bytes);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// transfer(io, value) writes the value, or reads it. One overload for each kind of type.
template <class Io, class T>
void transfer(Io& io, T& value);

template <class Io>
void transfer_size(Io& io, size_t& size) {
  uint64_t number = size;
  io.raw(&number, sizeof number);
  size = static_cast<size_t>(number);
}

template <class Io>
void transfer(Io& io, std::string& text) {
  size_t size = text.size();
  transfer_size(io, size);
  text.resize(size);
  io.raw(text.data(), size);
}

template <class Io, class T>
void transfer(Io& io, std::vector<T>& all) {
  size_t size = all.size();
  transfer_size(io, size);
  all.resize(size);
  for (size_t i = 0; i < size; ++i)
    if constexpr (std::is_same_v<T, bool>) {  // has no bool& to give
      bool value = all[i];
      transfer(io, value);
      all[i] = value;
    } else {
      transfer(io, all[i]);
    }
}

template <class Io, class Key, class T>
void transfer(Io& io, std::map<Key, T>& all) {
  std::vector<std::pair<Key, T>> pairs(all.begin(), all.end());
  transfer(io, pairs);
  all = std::map<Key, T>(pairs.begin(), pairs.end());
}

template <class Io, class T, size_t n>
void transfer(Io& io, std::array<T, n>& all) {
  for (T& value : all) transfer(io, value);
}

template <class Io, class A, class B>
void transfer(Io& io, std::pair<A, B>& pair) {
  transfer(io, pair.first);
  transfer(io, pair.second);
}

template <class Io, class T>
void transfer(Io& io, std::optional<T>& value) {
  bool there = value.has_value();
  transfer(io, there);
  if (!there) return value.reset();
  if (!value) value.emplace();
  transfer(io, *value);
}

template <class Io, class... T>
void transfer(Io& io, std::variant<T...>& value) {
  size_t index = value.index();
  transfer_size(io, index);
  if constexpr (!Io::writes) {
    size_t i = 0;
    ((i++ == index ? static_cast<void>(value = T{}) : static_cast<void>(0)), ...);
  }
  std::visit([&](auto& held) { transfer(io, held); }, value);
}

template <class Io, class... T>
void transfer_all(Io& io, T&... values) {
  (transfer(io, values), ...);
}

// Structured bindings have as many names as the struct has fields: one line for each number.
template <size_t fields, class Io, class T>
void transfer_fields(Io& io, T& value) {
  static_assert(fields > 0 && fields <= 12, "bytes: wanted a struct of one to twelve fields; give it parts");
  if constexpr (fields == 1) {
    auto& [a] = value;
    transfer_all(io, a);
  } else if constexpr (fields == 2) {
    auto& [a, b] = value;
    transfer_all(io, a, b);
  } else if constexpr (fields == 3) {
    auto& [a, b, c] = value;
    transfer_all(io, a, b, c);
  } else if constexpr (fields == 4) {
    auto& [a, b, c, d] = value;
    transfer_all(io, a, b, c, d);
  } else if constexpr (fields == 5) {
    auto& [a, b, c, d, e] = value;
    transfer_all(io, a, b, c, d, e);
  } else if constexpr (fields == 6) {
    auto& [a, b, c, d, e, f] = value;
    transfer_all(io, a, b, c, d, e, f);
  } else if constexpr (fields == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    transfer_all(io, a, b, c, d, e, f, g);
  } else if constexpr (fields == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    transfer_all(io, a, b, c, d, e, f, g, h);
  } else if constexpr (fields == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    transfer_all(io, a, b, c, d, e, f, g, h, i);
  } else if constexpr (fields == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    transfer_all(io, a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (fields == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    transfer_all(io, a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (fields == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    transfer_all(io, a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

template <class Io, class T>
void transfer(Io& io, T& value) {
  if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    io.raw(&value, sizeof value);
  } else {
    static_assert(
        std::is_aggregate_v<T> && !std::is_array_v<T>,
        "bytes: a result of each() crosses between processes as bytes, and this type cannot: wanted "
        "numbers, enums, std::string, vector, map, pair, optional, variant, array, or a struct of these");
    transfer_fields<field_count<T>()>(io, value);
  }
}

// Throws Error where a length does not fit.
template <class T>
std::string to_bytes(T value) {
  ByteWriter writer;
  transfer(writer, value);
  return std::move(writer.text);
}
template <class T>
T from_bytes(std::string_view bytes) {
  static_assert(std::is_default_constructible_v<T>, "bytes: a result of each() needs a default constructor");
  T value{};
  ByteReader reader(bytes);
  transfer(reader, value);
  check(reader.at_end(), "bytes: a text is longer than its value");
  return value;
}

}  // namespace isobar
