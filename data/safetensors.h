// Safetensors: named tensors in one file, the format of Hugging Face's models: eight bytes with the length of
// a JSON header, little-endian, the header, then all elements without a gap.
//
//   save_safetensors("model.safetensors", named_state(model));        // parameters and buffers
//   load_state(model, load_safetensors("model.safetensors"));         // the same for an optimizer
//
// Every length, shape and offset of the header is compared with the true size of the file before anything is
// allocated for it.
#pragma once

#include <functional>
#include <map>

#include "../core/fields.h"
#include "file.h"

namespace isobar {

// Writes safetensors_bytes() of the tensors by write_file_atomically(). Also throws Error if two tensors have
// the same name.
void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

// All tensors of the file, in the order of their names; dtypes and errors as in read_safetensors().
std::vector<NamedTensor> load_safetensors(const std::string& path);

struct Safetensors {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> metadata = {};
  std::map<std::string, std::string> texts = {};  // any bytes, as one-dimensional U8, after the tensors
};

// Reads F32, F64, I32, I64 and BOOL without conversion, F16 and BF16 as f32. With `wanted`, only tensors
// whose names it accepts are read; the others may have any dtype of the format. Throws Error that starts with
// the path and says what is wrong: the header is longer than 100 MB or than the file, is not JSON of this
// format, or has a name twice; a tensor's bytes do not fit its shape, overlap another's, leave a gap or are
// outside of the file.
Safetensors read_safetensors(const std::string& path,
                             const std::function<bool(const std::string& name)>& wanted = {});
// The checked header of a file: name, dtype, shape and place of every tensor.
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

// read_safetensors() of a file whose header was read, U8 of any shape as texts.
Safetensors read_safetensors(const InputFile& file, const SafetensorsHeader& header,
                             const std::function<bool(const std::string& name)>& wanted = {});

// The bytes of such a file: every tensor in its own dtype, in the order of the names, elements from an offset
// that is a multiple of eight. Throws Error for a tensor that is undefined, a name or text that is not valid
// UTF-8, the name "__metadata__", which the format reserves, and a header that would be too long.
std::string safetensors_bytes(const Safetensors& file);

}  // namespace isobar
