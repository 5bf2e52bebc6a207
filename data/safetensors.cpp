#include "safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>

#include "../core/raw.h"

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

// bf16 is the upper half of a float: 1 bit of sign, 8 of exponent, 7 of fraction.
float bf16_to_float(uint16_t half) { return std::bit_cast<float>(uint32_t{half} << 16); }

// The format's name of our dtype: "F32" for f32.
std::string format_name(std::string_view own) {
  std::string name(own);
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// The dtype of the tensor that is read: f32 for F16 and BF16; nullopt for a dtype that cannot be read.
std::optional<Dtype> dtype_for(const std::string& name) {
  if (name == "F16" || name == "BF16") return Dtype::f32;
  const auto own = std::find_if(dtype_names.begin(), dtype_names.end(),
                                [&](std::string_view one) { return format_name(one) == name; });
  if (own == dtype_names.end()) return std::nullopt;
  return static_cast<Dtype>(own - dtype_names.begin());
}

constexpr const char* readable = "wanted F32, F64, F16, BF16, I32, I64 or BOOL";

size_t byte_count(const Tensor& tensor) {
  return static_cast<size_t>(tensor.numel()) * size_of(tensor.dtype());
}

// An entry whose numbers stand at `place` in the file.
struct EntrySource {
  const InputFile& file;
  const SafetensorsHeader::Entry& entry;
  uint64_t place;
};

// F16 or BF16, as f32.
Tensor read_halves(const EntrySource& source) {
  Tensor tensor(source.entry.shape, Dtype::f32);
  float* numbers = raw::write<float>(tensor);
  const bool brain = source.entry.dtype == "BF16";
  std::vector<uint16_t> piece(size_t{1} << 16);
  for (int64_t i = 0; i < tensor.numel();) {
    const int64_t count = std::min<int64_t>(static_cast<int64_t>(piece.size()), tensor.numel() - i);
    source.file.read(source.place + 2 * static_cast<uint64_t>(i), piece.data(),
                     2 * static_cast<size_t>(count));
    for (int64_t j = 0; j < count; ++j)
      numbers[i + j] = (brain ? bf16_to_float : half_to_float)(piece[static_cast<size_t>(j)]);
    i += count;
  }
  return tensor;
}

// Throws Error where a byte is neither 0 nor 1, and so no bool of C++; `bytes` is the first of them.
void check_bools(const EntrySource& source, const void* bytes, int64_t count) {
  const auto* const each = static_cast<const unsigned char*>(bytes);
  for (int64_t i = 0; i < count; ++i)
    check(each[i] <= 1, "{}: tensor '{}': a BOOL is 0 or 1, element {} is {}", source.file.path(),
          source.entry.name, i, each[i]);
}

Tensor read_tensor(const EntrySource& source, Dtype dtype) {
  if (source.entry.dtype == "F16" || source.entry.dtype == "BF16") return read_halves(source);
  Tensor tensor(source.entry.shape, dtype);
  dispatch_any(dtype, [&]<class T>() {
    T* const numbers = raw::write<T>(tensor);
    source.file.read(source.place, numbers, byte_count(tensor));
    if (std::is_same_v<T, bool>) check_bools(source, numbers, tensor.numel());
  });
  return tensor;
}

}  // namespace

Safetensors read_safetensors(const std::string& path,
                             const std::function<bool(const std::string& name)>& wanted) {
  const InputFile file(path);
  const std::string bytes = SafetensorsHeader::bytes_of(file);
  const SafetensorsHeader header =
      SafetensorsHeader::parse(std::string_view(bytes).substr(8), file.size() - bytes.size(), path);
  for (const SafetensorsHeader::Entry& entry : header.entries)
    check(entry.dtype != "U8" || (wanted && !wanted(entry.name)), "{}: tensor '{}': {}, got U8", path,
          entry.name, readable);
  return read_safetensors(file, header, wanted);
}

Safetensors read_safetensors(const InputFile& file, const SafetensorsHeader& header,
                             const std::function<bool(const std::string& name)>& wanted) {
  const auto chosen = [&](const SafetensorsHeader::Entry& entry) { return !wanted || wanted(entry.name); };
  for (const SafetensorsHeader::Entry& entry : header.entries)
    check(!chosen(entry) || entry.dtype == "U8" || dtype_for(entry.dtype).has_value(),
          "{}: tensor '{}': {}, got {}", file.path(), entry.name, readable, entry.dtype);
  Safetensors result{{}, header.metadata};
  for (const SafetensorsHeader::Entry& entry : header.entries) {
    if (!chosen(entry)) continue;
    const EntrySource source{file, entry, header.data_begin + entry.begin};
    if (entry.dtype == "U8") {
      std::string& text = result.texts[entry.name];
      text.resize(entry.end - entry.begin);
      file.read(source.place, text.data(), text.size());
    } else {
      result.tensors.emplace(entry.name, read_tensor(source, *dtype_for(entry.dtype)));
    }
  }
  return result;
}

std::string safetensors_bytes(const Safetensors& file) {
  SafetensorsHeader header{{}, file.metadata};
  uint64_t end = 0;
  const auto add = [&](const std::string& name, const std::string& dtype, const Shape& shape, size_t bytes) {
    header.entries.push_back({name, dtype, shape, end, end + bytes});
    end += bytes;
  };
  for (const auto& [name, tensor] : file.tensors) {
    check(name != "__metadata__",
          "safetensors: the format keeps the name '__metadata__' for itself; rename the tensor");
    check(tensor.defined(), "safetensors: tensor '{}' is undefined", name);
    add(name, format_name(name_of(tensor.dtype())), tensor.shape(), byte_count(tensor));
  }
  for (const auto& [name, text] : file.texts) add(name, "U8", {std::ssize(text)}, text.size());
  std::string bytes = header.bytes();
  bytes.reserve(bytes.size() + end);
  for (const auto& [name, tensor] : file.tensors) {
    const Tensor contiguous = raw::contiguous(tensor);
    bytes.append(static_cast<const char*>(raw::address(contiguous)), byte_count(contiguous));
  }
  for (const auto& [name, text] : file.texts) bytes += text;
  return bytes;
}

void save_safetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  Safetensors file{{}, metadata};
  for (const NamedTensor& entry : tensors) {
    const bool fresh = file.tensors.emplace(entry.name, entry.tensor).second;
    check(fresh, "save_safetensors: {} is given twice", entry.name);
  }
  write_file_atomically(path, safetensors_bytes(file), PathFrom::user);
}

std::vector<NamedTensor> load_safetensors(const std::string& path) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, tensor] : read_safetensors(path).tensors) tensors.push_back({name, tensor});
  return tensors;
}

}  // namespace isobar
