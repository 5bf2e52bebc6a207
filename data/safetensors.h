// Safetensors: named tensors in one file, the format in which Hugging Face's models are passed on: eight
// bytes with the length of a JSON header, little-endian, the header, then all numbers without a gap.
//
//   write_safetensors("model.safetensors", {.tensors = {{"weight", w}}});
//   const Safetensors file = read_safetensors("model.safetensors");
//   file.tensors.at("weight");        // f32
//
// Reading distrusts the file: every length, shape and offset of the header is held against the file's true
// size before anything is allocated for it.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "../core/tensor.h"

namespace isobar {

struct Safetensors {
  std::map<std::string, Tensor> tensors;  // f32
  std::map<std::string, std::string> metadata = {};
};

// Reads F32, F16 and BF16, all to f32. Where `wanted` is given, only tensors whose names it accepts are read,
// and of the others the dtype may be any of the format's. Throws Error that begins with the path and says
// what is wrong: the header is longer than 100 MB or than the file, is no JSON of the format's kind, or has a
// name twice; a tensor's bytes are not those of its shape, or overlap another's, leave a gap or lie outside.
Safetensors read_safetensors(const std::string& path,
                             const std::function<bool(const std::string& name)>& wanted = {});

// The bytes of such a file: F32, in the order of the names, numbers from a multiple of eight on. Throws Error
// for tensors of another dtype.
std::string safetensors_bytes(const Safetensors& file);
// Writes them by write_file_atomically().
void write_safetensors(const std::string& path, const Safetensors& file);

}  // namespace isobar
