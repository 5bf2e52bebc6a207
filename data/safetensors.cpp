#include "safetensors.h"

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "../core/bf16.h"
#include "../core/raw.h"
#include "file.h"
#include "safetensors_header.h"

namespace isobar {
namespace {

static_assert(std::endian::native == std::endian::little, "the format's numbers are little-endian");

// IEEE 754 half: a sign, 5 bits of exponent, 10 of fraction.
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
  uint64_t size() const { return size_; }
  void read(void* bytes, uint64_t count) {
    stream_.read(static_cast<char*>(bytes), static_cast<std::streamsize>(count));
    check(stream_.gcount() == static_cast<std::streamsize>(count), "{}: ends before its time", path_);
  }
  void skip(uint64_t count) { stream_.seekg(static_cast<std::streamoff>(count), std::ios::cur); }

 private:
  const std::string& path_;
  std::ifstream stream_;
  uint64_t size_ = 0;
};

// The next tensor of the file, to f32.
Tensor read_tensor(Input& input, const SafetensorsHeader::Entry& entry) {
  Tensor tensor(entry.shape, Dtype::f32);
  float* numbers = raw::write<float>(tensor);
  if (entry.dtype == "F32") {
    input.read(numbers, entry.end - entry.begin);
    return tensor;
  }
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

}  // namespace

Safetensors read_safetensors(const std::string& path,
                             const std::function<bool(const std::string& name)>& wanted) {
  Input input(path);
  check(input.size() >= 8, "{}: not a safetensors file: {} bytes, where eight give the header's length", path,
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
    check(!chosen(entry.name) || entry.dtype == "F32" || entry.dtype == "F16" || entry.dtype == "BF16",
          "{}: tensor '{}': wanted F32, F16 or BF16, got {}", path, entry.name, entry.dtype);
  for (const SafetensorsHeader::Entry& entry : header.entries)
    if (chosen(entry.name))
      file.tensors.emplace(entry.name, read_tensor(input, entry));
    else
      input.skip(entry.end - entry.begin);
  return file;
}

std::string safetensors_bytes(const Safetensors& file) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  uint64_t end = 0;
  for (const auto& [name, tensor] : file.tensors) {
    check(tensor.dtype() == Dtype::f32, "safetensors: tensor '{}': wanted f32, got {}", name, tensor.dtype());
    const uint64_t begin = end;
    end += static_cast<uint64_t>(tensor.numel()) * sizeof(float);
    header[name] = {{"dtype", "F32"},
                    {"shape", std::vector<int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  const uint64_t length = text.size();
  std::string bytes(reinterpret_cast<const char*>(&length), 8);
  bytes.reserve(8 + length + end);
  bytes += text;
  for (const auto& [name, tensor] : file.tensors) {
    const Tensor packed = raw::contiguous(tensor);
    bytes.append(reinterpret_cast<const char*>(packed.data<float>()),
                 static_cast<size_t>(packed.numel()) * sizeof(float));
  }
  return bytes;
}

void write_safetensors(const std::string& path, const Safetensors& file) {
  write_file_atomically(path, safetensors_bytes(file));
}

}  // namespace isobar
