// Safetensors: named tensors in one file, the format in which Hugging Face's models are passed on: eight
// bytes with the length of a JSON header, little-endian, the header, then all numbers without a gap.
//
//   save_safetensors("model.safetensors", named_state(model));        // parameters and buffers
//   load_state(model, load_safetensors("model.safetensors"));         // the same for an optimizer
//
// Reading distrusts the file: every length, shape and offset of the header is held against the file's true
// size before anything is allocated for it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "../core/fields.h"
#include "../core/tensor.h"

namespace isobar {

// Writes safetensors_bytes() of them by write_file_atomically(). Throws Error too where two tensors have one
// name.
void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

// All tensors of the file, in the order of their names; dtypes and errors as read_safetensors() has them.
std::vector<NamedTensor> load_safetensors(const std::string& path);

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata = {};
};

// Reads F32, F64, I32 and I64 as they are, F16 and BF16 to f32. Where `wanted` is given, only tensors whose
// names it accepts are read, and of the others the dtype may be any of the format's. Throws Error that begins
// with the path and says what is wrong: the header is longer than 100 MB or than the file, is no JSON of the
// format's kind, or has a name twice; a tensor's bytes are not those of its shape, or overlap another's,
// leave a gap or lie outside.
Safetensors read_safetensors(const std::string& path,
                             const std::function<bool(const std::string& name)>& wanted = {});

// The bytes of such a file: every tensor in its own dtype, in the order of the names, numbers from a multiple
// of eight on. Throws Error for a tensor that is undefined, a name or text that is not valid UTF-8, the name
// "__metadata__", which the format keeps for itself, and a header that would be too long.
std::string safetensors_bytes(const Safetensors& file);

}  // namespace isobar
