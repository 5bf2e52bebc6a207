// The checked header of a safetensors file: name, dtype, shape and place of every tensor.
#pragma once

#include <map>

#include "../core/shape.h"
#include "file.h"

namespace isobar {

struct SafetensorsHeader {
  struct Entry {
    std::string name, dtype;  // "F32"
    Shape shape;
    uint64_t begin, end;  // offsets of its bytes from the end of the header
  };
  std::vector<Entry> entries;  // in the order of the file, without gap or overlap
  std::map<std::string, std::string> metadata;
  uint64_t data_begin = 0;  // the place of the first element in a file that was read

  static constexpr uint64_t longest = 100'000'000;  // bytes of a header, by the format's definition

  // What a file has before its elements: eight bytes with the length of the header, and the header. Throws
  // Error where it is longer than the format allows, or than the file.
  static std::string bytes_of(const InputFile& file);
  // The same of these entries and metadata: at least `room` bytes, a multiple of eight. Throws Error for a
  // name or text that is not valid UTF-8, and where it would be too long.
  std::string bytes(size_t room = 0) const;

  // `text` is the header, `data_bytes` the number of bytes after it, `who` the start of error texts. Throws
  // Error for anything that the format forbids.
  static SafetensorsHeader parse(std::string_view text, uint64_t data_bytes, const std::string& who);
};

}  // namespace isobar
