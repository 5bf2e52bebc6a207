// What checkpoint files and bad steps share: named tensors, and numbers, in a safetensors file.
#pragma once

#include <charconv>
#include <string>
#include <vector>

#include "../../core/error.h"
#include "../../core/fields.h"
#include "../../data/safetensors.h"

namespace isobar {

// Each tensor as <group>/<name>; and those of a group, in the order of their names.
void store_tensors(Safetensors& file, const std::string& group, const std::vector<NamedTensor>& tensors);
std::vector<NamedTensor> stored_tensors(const Safetensors& file, const std::string& group);

// The metadata under a key. Throws Error where there are none.
const std::string& stored_text(const Safetensors& file, const std::string& key);
// The same as a number. Throws Error where they are none.
template <class T>
T stored_number(const Safetensors& file, const std::string& key) {
  const std::string& text = stored_text(file, key);
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  check(error == std::errc() && end == text.data() + text.size(), "wanted a number as {} of the metadata",
        key);
  return number;
}

// XXH3 of a tensor's bytes.
std::string checksum_of(const Tensor& values);

}  // namespace isobar
