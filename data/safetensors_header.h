// The header of a safetensors file, checked: what stands where in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../core/shape.h"

namespace isobar {

struct SafetensorsHeader {
  struct Entry {
    std::string name, dtype;  // "F32"
    Shape shape;
    uint64_t begin, end;  // of its bytes, from the end of the header
  };
  std::vector<Entry> entries;  // as they stand in the file, without gap or overlap
  std::map<std::string, std::string> metadata;

  static constexpr uint64_t longest = 100'000'000;  // bytes of a header, by the format's definition

  // `text` is the header, `data_bytes` what follows it in the file, `who` the beginning of errors. Throws
  // Error for whatever the format forbids.
  static SafetensorsHeader parse(std::string_view text, uint64_t data_bytes, const std::string& who);
};

}  // namespace isobar
