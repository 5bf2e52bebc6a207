#include "safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "../core/bf16.h"
#include "../core/raw.h"
#include "file.h"
#include "safetensors_header.h"
#include "utf8.h"

namespace isobar {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

// IEEE 754 half: 1 bit of sign, 5 of exponent, 10 of fraction.
float half_to_float(uint16_t half) {
  const int exponent = half >> 10 & 31, fraction = half & 1023;
  const float size = exponent == 0   ? std::ldexp(static_cast<float>(fraction), -24)
                     : exponent < 31 ? std::ldexp(static_cast<float>(1024 + fraction), exponent - 25)
                     : fraction == 0 ? std::numeric_limits<float>::infinity()
                                     : std::numeric_limits<float>::quiet_NaN();
  return half >> 15 != 0 ? -size : size;
}

// A file opened for reading, of known size.
class Input {
 public:
  explicit Input(const std::string& path) : path_(path), stream_(path, std::ios::binary) {
    std::error_code error;
    size_ = std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
    check(stream_.is_open() && !error && std::filesystem::is_regular_file(path),
          "{}: cannot be read; is it there, and a file?", path);
  }
  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  void read(void* bytes, uint64_t count) {
    stream_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
    check(stream_.gcount() == static_cast<std::streamsize>(count), "{}: ends too early", path_);
  }
  void skip(uint64_t count) { stream_.seekg(static_cast<std::streamoff>(count), std::ios::cur); }

 private:
  const std::string& path_;
  std::ifstream stream_;
  uint64_t size_ = 0;
};

// The format's names of our dtypes.
constexpr std::array<std::pair<const char*, Dtype>, 5> own_dtypes{{{"F32", Dtype::f32},
                                                                   {"F64", Dtype::f64},
                                                                   {"I32", Dtype::i32},
                                                                   {"I64", Dtype::i64},
                                                                   {"BOOL", Dtype::boolean}}};

// The dtype of the tensor that is read: f32 for F16 and BF16; nullopt for a dtype that cannot be read.
std::optional<Dtype> dtype_for(const std::string& name) {
  if (name == "F16" || name == "BF16") return Dtype::f32;
  for (const auto& [own, dtype] : own_dtypes)
    if (name == own) return dtype;
  return std::nullopt;
}

const char* format_name(Dtype dtype) {
  return std::find_if(own_dtypes.begin(), own_dtypes.end(),
                      [&](const auto& own) { return own.second == dtype; })
      ->first;
}

// The first byte of a contiguous tensor.
const char* bytes_of(const Tensor& tensor) {
  return dispatch_any(tensor.dtype(),
                      [&]<class T>() { return reinterpret_cast<const char*>(tensor.data<T>()); });
}

size_t byte_count(const Tensor& tensor) {
  return static_cast<size_t>(tensor.numel()) * size_of(tensor.dtype());
}

// Reads the next tensor of the file, F16 or BF16, as f32.
Tensor read_halves(Input& input, const SafetensorsHeader::Entry& entry) {
  Tensor tensor(entry.shape, Dtype::f32);
  float* numbers = raw::write<float>(tensor);
  const bool brain = entry.dtype == "BF16";
  std::vector<uint16_t> piece(size_t{1} << 16);
  for (int64_t i = 0; i < tensor.numel();) {
    const int64_t count = std::min<int64_t>(static_cast<int64_t>(piece.size()), tensor.numel() - i);
    input.read(piece.data(), 2 * static_cast<uint64_t>(count));
    for (int64_t j = 0; j < count; ++j)
      numbers[i + j] = brain ? to_float(Bf16{piece[static_cast<size_t>(j)]})
                             : half_to_float(piece[static_cast<size_t>(j)]);
    i += count;
  }
  return tensor;
}

template <class T>
Tensor read_as_is(Input& input, const Shape& shape) {
  Tensor tensor(shape, dtype_of<T>());
  input.read(raw::write<T>(tensor), byte_count(tensor));
  return tensor;
}

// Throws Error where a byte is neither 0 nor 1, and so no bool of C++; `bytes` is the first of them.
void check_bools(const std::string& path, const std::string& name, const void* bytes, int64_t count) {
  const auto* const each = static_cast<const unsigned char*>(bytes);
  for (int64_t i = 0; i < count; ++i)
    check(each[i] <= 1, "{}: tensor '{}': a BOOL is 0 or 1, element {} is {}", path, name, i, each[i]);
}

// Reads the next tensor of the file.
Tensor read_tensor(Input& input, const SafetensorsHeader::Entry& entry) {
  if (entry.dtype == "F16" || entry.dtype == "BF16") return read_halves(input, entry);
  if (entry.dtype == "F32") return read_as_is<float>(input, entry.shape);
  if (entry.dtype == "F64") return read_as_is<double>(input, entry.shape);
  if (entry.dtype == "I32") return read_as_is<int32_t>(input, entry.shape);
  if (entry.dtype == "BOOL") {
    const Tensor tensor = read_as_is<bool>(input, entry.shape);
    check_bools(input.path(), entry.name, tensor.data<bool>(), tensor.numel());
    return tensor;
  }
  return read_as_is<int64_t>(input, entry.shape);
}

// Throws Error for a text that is not valid UTF-8. The error shows `what` and the text, with invalid bytes as
// \xff.
void check_utf8(const char* what, std::string_view text) {
  std::string shown;
  bool valid = true;
  for (size_t i = 0; i < text.size();) {
    const Character character = first_character(text.substr(i));
    if (character.number >= stray_byte) {
      valid = false;
      shown += fmt::format("\\x{:02x}", character.number - stray_byte);
    } else {
      shown += text.substr(i, character.bytes);
    }
    i += character.bytes;
  }
  check(valid, "safetensors: {} '{}' is not valid UTF-8", what, shown);
}

// Checks what the format's reader would refuse.
void check_writable(const Safetensors& file) {
  for (const auto& [key, text] : file.metadata) {
    check_utf8("the metadata", key);
    check_utf8("the metadata", text);
  }
  for (const auto& [name, tensor] : file.tensors) {
    check_utf8("the name", name);
    check(name != "__metadata__",
          "safetensors: the format keeps the name '__metadata__' for itself; rename the tensor");
    check(tensor.defined(), "safetensors: tensor '{}' is undefined", name);
  }
}

}  // namespace

Safetensors read_safetensors(const std::string& path,
                             const std::function<bool(const std::string& name)>& wanted) {
  Input input(path);
  check(input.size() >= 8, "{}: not a safetensors file: {} bytes, wanted eight for the header's length", path,
        input.size());
  uint64_t length = 0;
  input.read(&length, 8);
  check(length <= SafetensorsHeader::longest, "{}: wanted a header of at most {} bytes, got {}", path,
        SafetensorsHeader::longest, length);
  check(length <= input.size() - 8, "{}: its header has {} bytes, but only {} follow", path, length,
        input.size() - 8);
  std::string text(length, '\0');
  input.read(text.data(), length);
  SafetensorsHeader header = SafetensorsHeader::parse(text, input.size() - 8 - length, path);
  Safetensors file{{}, std::move(header.metadata)};
  const auto chosen = [&](const std::string& name) { return !wanted || wanted(name); };
  for (const SafetensorsHeader::Entry& entry : header.entries)
    check(!chosen(entry.name) || dtype_for(entry.dtype).has_value(),
          "{}: tensor '{}': wanted F32, F64, F16, BF16, I32, I64 or BOOL, got {}", path, entry.name,
          entry.dtype);
  for (const SafetensorsHeader::Entry& entry : header.entries)
    if (chosen(entry.name))
      file.tensors.emplace(entry.name, read_tensor(input, entry));
    else
      input.skip(entry.end - entry.begin);
  return file;
}

std::string safetensors_bytes(const Safetensors& file) {
  check_writable(file);
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  uint64_t end = 0;
  for (const auto& [name, tensor] : file.tensors) {
    const uint64_t begin = end;
    end += byte_count(tensor);
    header[name] = {{"dtype", format_name(tensor.dtype())},
                    {"shape", std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  check(length <= SafetensorsHeader::longest, "safetensors: wanted a header of at most {} bytes, got {}",
        SafetensorsHeader::longest, length);
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  bytes.reserve(8 + length + end);
  bytes += text;
  for (const auto& [name, tensor] : file.tensors) {
    const Tensor contiguous = raw::contiguous(tensor);
    bytes.append(bytes_of(contiguous), byte_count(contiguous));
  }
  return bytes;
}

void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Safetensors file{{}, metadata};
  for (const NamedTensor& entry : tensors) {
    const bool fresh = file.tensors.emplace(entry.name, entry.tensor).second;
    check(fresh, "save_safetensors: {} is given twice", entry.name);
  }
  write_file_atomically(path, safetensors_bytes(file));
}

std::vector<NamedTensor> load_safetensors(const std::string& path) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) tensors.push_back({name, tensor});
  return tensors;
}

}  // namespace isobar
