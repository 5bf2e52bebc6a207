#include "npy_file.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "../core/raw.h"
#include "file.h"

namespace isobar {
namespace {

static_assert(std::endian::native == std::endian::little, "the elements of a file are read as they are");

struct Header {
  std::string type;  // "<f4"
  bool columns_first = false;
  std::vector<int64_t> extents;
  uint64_t data_begin = 0;  // the offset of the first element
};

// Reads the header's text, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Parser {
 public:
  Parser(const std::string& path, std::string_view text) : path_(path), rest_(text) {}

  Header header() {
    std::optional<std::string> type;
    std::optional<bool> columns_first;
    std::optional<std::vector<int64_t>> extents;
    want('{');
    while (!next_is('}')) {
      const std::string key = quoted();
      want(':');
      if (key == "descr" && !type) {
        check(!next_is('['), "{}: holds an array with named fields; save each field in a file of its own",
              path_);
        type = quoted();
      } else if (key == "fortran_order" && !columns_first) {
        columns_first = boolean();
      } else if (key == "shape" && !extents) {
        extents = shape();
      } else {
        refuse();
      }
      if (!next_is('}')) want(',');
    }
    want('}');
    skip_spaces();
    if (!rest_.empty() || !type || !columns_first || !extents) refuse();
    return {*type, *columns_first, *extents};
  }

 private:
  [[noreturn]] void refuse() const {
    throw_error(
        fmt::format("{}: this is no .npy header that numpy.save() writes; save the array again", path_));
  }
  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool next_is(char c) {
    skip_spaces();
    return !rest_.empty() && rest_[0] == c;
  }
  void want(char c) {
    if (!next_is(c)) refuse();
    rest_.remove_prefix(1);
  }
  std::string quoted() {
    want('\'');
    const size_t end = rest_.find('\'');
    if (end == rest_.npos) refuse();
    std::string text(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return text;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    refuse();
  }
  std::vector<int64_t> shape() {
    std::vector<int64_t> extents;
    want('(');
    while (!next_is(')')) {
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), extent);
      if (error != std::errc() || extent < 0) refuse();
      rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
      extents.push_back(extent);
      if (!next_is(')')) want(',');
    }
    want(')');
    return extents;
  }

  const std::string& path_;
  std::string_view rest_;
};

Header header_of(const InputFile& file) {
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr uint64_t longest = 1 << 20;
  std::array<char, 12> start{};
  const std::string& path = file.path();
  check(file.size() >= 10, "{}: has {} bytes; wanted a .npy file, which has more", path, file.size());
  file.read(0, start.data(), std::min<size_t>(start.size(), file.size()));
  check(std::string_view(start.data(), magic.size()) == magic,
        "{}: this is no .npy file, which begins with \\x93NUMPY{}", path,
        std::string_view(start.data(), 2) == "PK" ? "; it may be an .npz: save each array by numpy.save()"
                                                  : "");
  const int version = static_cast<unsigned char>(start[6]);
  check(version >= 1 && version <= 3, "{}: is of version {}; wanted 1, 2 or 3", path, version);
  // The length of the text has two bytes in version 1, else four.
  const size_t digits = version == 1 ? 2 : 4;
  uint64_t length = 0;
  for (size_t i = 0; i < digits; ++i) length |= uint64_t{static_cast<unsigned char>(start[8 + i])} << 8 * i;
  const uint64_t begin = 8 + digits;
  check(length <= longest && begin + length <= file.size(), "{}: ends inside its header; get the file again",
        path);
  std::string text(length, ' ');
  file.read(begin, text.data(), text.size());
  Header header = Parser(path, text).header();
  header.data_begin = begin + length;
  return header;
}

// The elements of type From as a tensor of T.
template <class From, class T>
Tensor elements(const InputFile& file, const Header& header) {
  const std::string& path = file.path();
  check(header.extents.size() <= max_dims, "{}: has {} dimensions; a tensor has {} at most", path,
        header.extents.size(), max_dims);
  const uint64_t bytes = file.size() - header.data_begin;
  uint64_t count = 1, declared = 0;
  bool fits = true;
  for (const int64_t extent : header.extents)
    fits &= !__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count);
  fits = fits && !__builtin_mul_overflow(count, sizeof(From), &declared);
  check(fits && declared == bytes,
        "{}: declares an array [{}] of {}, and {} bytes follow; get the file again", path,
        fmt::join(header.extents, ", "), header.type, bytes);
  std::vector<int64_t> extents = header.extents;
  if (header.columns_first) std::reverse(extents.begin(), extents.end());
  const Shape shape{std::span<const int64_t>(extents)};
  Tensor stored(shape, dtype_of<T>());
  T* to = raw::write<T>(stored);
  if constexpr (std::is_same_v<From, T> && !std::is_same_v<T, bool>) {
    if (bytes > 0) file.read(header.data_begin, to, bytes);
  } else {
    std::vector<From> from(std::is_same_v<From, bool> ? 0 : count);
    std::vector<unsigned char> mask(std::is_same_v<From, bool> ? count : 0);
    if constexpr (std::is_same_v<From, bool>) {
      if (bytes > 0) file.read(header.data_begin, mask.data(), bytes);
      for (uint64_t i = 0; i < count; ++i) {
        check(mask[i] <= 1, "{}: element {} of a mask is {}; wanted 0 or 1", path, i, mask[i]);
        to[i] = mask[i] != 0;
      }
    } else {
      if (bytes > 0) file.read(header.data_begin, from.data(), bytes);
      std::copy(from.begin(), from.end(), to);
    }
  }
  if (!header.columns_first) return stored;
  Shape wanted{std::span<const int64_t>(header.extents)};
  Strides strides{};
  int64_t step = 1;
  for (int d = 0; d < wanted.ndim(); step *= wanted[d++]) strides[d] = step;
  return raw::contiguous(raw::as_strided(stored, wanted, strides));
}

}  // namespace

Tensor read_npy(const std::string& path) {
  const InputFile file(path);
  const Header header = header_of(file);
  const std::string& type = header.type;
  if (type == "<f4") return elements<float, float>(file, header);
  if (type == "<f8") return elements<double, double>(file, header);
  if (type == "<i4") return elements<int32_t, int32_t>(file, header);
  if (type == "<i8") return elements<int64_t, int64_t>(file, header);
  if (type == "|b1") return elements<bool, bool>(file, header);
  if (type == "|i1") return elements<int8_t, int32_t>(file, header);
  if (type == "|u1") return elements<uint8_t, int32_t>(file, header);
  if (type == "<i2") return elements<int16_t, int32_t>(file, header);
  if (type == "<u2") return elements<uint16_t, int32_t>(file, header);
  throw_error(fmt::format(
      "{}: holds elements of type '{}'; save it as one of f4, f8, i4, i8, i2, u2, i1, u1 and bool in "
      "little-endian order, such as x.astype('<f4')",
      path, type));
}

}  // namespace isobar
