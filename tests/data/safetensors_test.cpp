// safetensors: the bytes that the format's definition prints, f16 and bf16, and files that lie. What is written
// is read back: nn/model_file_test.cpp.
#include "../../data/safetensors.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "../../autograd/ops.h"
#include "../message_of.h"
#include "../temporary_folder.h"

namespace isobar::safetensors_test {

// A file with this header and this many bytes of zeros after it.
std::string file_of(const std::string& header, size_t data_bytes) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + std::string(data_bytes, '\0');
}

std::string with_length(uint64_t length, const std::string& rest) {
  return std::string(reinterpret_cast<const char*>(&length), 8) + rest;
}

// One tensor of 16-bit numbers.
std::vector<float> read_half(const std::string& dtype, const std::vector<uint16_t>& bits) {
  const TemporaryFolder folder;
  std::string bytes = file_of(fmt::format(R"({{"x":{{"dtype":"{}","shape":[{}],"data_offsets":[0,{}]}}}})",
                                          dtype, bits.size(), 2 * bits.size()),
                              0);
  bytes.append(reinterpret_cast<const char*>(bits.data()), 2 * bits.size());
  return read_safetensors(folder.write("x.safetensors", bytes)).tensors.at("x").to_vector<float>();
}

struct Lie {
  const char* name;
  std::string bytes, message;  // the message after "x.safetensors: "
};

TEST_CASE("a mask among a model's buffers is saved and comes back") {
  const TemporaryFolder folder;
  const Tensor mask = Rng(4).normal({5, 7}) > 0, none = zeros({0}, Dtype::boolean);
  save_safetensors(folder / "x.safetensors", {{"mask", mask}, {"none", none}, {"w", ones({3})}});
  const Safetensors back = read_safetensors(folder / "x.safetensors");
  REQUIRE(back.tensors.at("mask").dtype() == Dtype::boolean);
  CHECK(back.tensors.at("mask").to_vector<bool>() == mask.to_vector<bool>());
  CHECK(back.tensors.at("none").shape() == none.shape());
  CHECK(back.tensors.at("w").to_vector<float>() == std::vector<float>{1, 1, 1});
  std::string bytes = safetensors_bytes({.tensors = {{"mask", mask}}});
  bytes[bytes.size() - 2] = 2;  // neither true nor false
  CHECK(message_of([&] { read_safetensors(folder.write("two.safetensors", bytes)); }) ==
        (folder / "two.safetensors") + ": tensor 'mask': a BOOL is 0 or 1, element 33 is 2");
}

TEST_CASE("the bytes are those of the format's definition") {
  const std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string wanted = file_of(padded, 8);
  const float numbers[] = {1.5f, -2};
  std::memcpy(wanted.data() + wanted.size() - 8, numbers, 8);
  CHECK(safetensors_bytes({.tensors = {{"w", tensor<float>({2}, std::vector<float>{1.5f, -2})}}}) == wanted);
}

TEST_CASE("halves become the floats that IEEE 754 gives them") {
  const std::vector<float> f16 = read_half(
      "F16", {0x3c00, 0xc000, 0x7bff, 0x0400, 0x03ff, 0x0001, 0x8000, 0x3555, 0x7c00, 0xfc00, 0x7e00});
  const std::vector<float> wanted{1, -2, 65504, 0x1p-14f, 1023 * 0x1p-24f, 0x1p-24f, -0.0f, 0.333251953125f};
  for (size_t i = 0; i < wanted.size(); ++i) CHECK(f16[i] == wanted[i]);
  CHECK(std::signbit(f16[6]));
  CHECK(f16[8] == std::numeric_limits<float>::infinity());
  CHECK(f16[9] == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(f16[10]));
  const std::vector<float> bf16 = read_half("BF16", {0x3f80, 0xc000, 0x4049, 0x0001});
  CHECK(bf16 == std::vector<float>{1, -2, 3.140625f, 0x1p-133f});
  // More than are read at a time.
  const std::vector<float> many = read_half("F16", std::vector<uint16_t>(70000, 0x3c00));
  CHECK(many.size() == 70000);
  CHECK(many.back() == 1);
}

TEST_CASE("files that lie are refused, each with one clear error") {
  const auto one = [](const std::string& body, size_t bytes) {
    return file_of("{\"w\":" + body + "}", bytes);
  };
  const std::vector<Lie> lies = {
      {"nothing", "", "not a safetensors file: 0 bytes, wanted eight for the header's length"},
      {"half a length", "abcd", "not a safetensors file: 4 bytes, wanted eight for the header's length"},
      {"a header of 2^63 bytes", with_length(uint64_t{1} << 63, "{}"),
       "wanted a header of at most 100000000 bytes, got 9223372036854775808"},
      {"a header beyond the limit", with_length(100'000'001, "{}"),
       "wanted a header of at most 100000000 bytes, got 100000001"},
      {"a header beyond the file", with_length(3, "{}"), "its header has 3 bytes, but only 2 follow"},
      {"no header", with_length(0, ""), "not a safetensors file: its header does not start with {"},
      {"broken JSON", file_of("{\"w\":", 0), "the header is not valid JSON near byte 6"},
      {"a NUL, and more after it", file_of(std::string("{}\0x", 4), 0),
       "the header is not valid JSON near byte 3"},
      {"two objects", file_of("{}{}", 0), "the header is not valid JSON near byte 3"},
      {"bytes that are not UTF-8", file_of("{\"\xff\":{}}", 0), "the header is not valid JSON near byte 3"},
      {"a number for a tensor", one("3", 0), "the header has 3 for 'w', where an object belongs"},
      {"an array for a tensor", one("[1]", 0), "the header has an array for 'w', where an object belongs"},
      {"depth", one("{\"shape\":" + std::string(100000, '['), 0),
       "the header has an array in 'shape' of 'w', where it does not belong"},
      {"objects in a tensor", one(R"({"dtype":{}})", 0),
       "the header has an object in 'dtype' of 'w', where it does not belong"},
      {"a name twice",
       file_of(
           R"({"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"w":{"dtype":"F32","shape":[],"data_offsets":[4,8]}})",
           8),
       "'w' appears twice in the header"},
      {"a shape twice", one(R"({"dtype":"F32","shape":[1],"shape":[2],"data_offsets":[0,4]})", 4),
       "tensor 'w': shape appears twice"},
      {"an unknown key", one(R"({"dtype":"F32","stride":[1]})", 0),
       "tensor 'w': wanted dtype, shape and data_offsets, got 'stride'"},
      {"no dtype", one(R"({"shape":[1],"data_offsets":[0,4]})", 4),
       "tensor 'w': wanted dtype, shape and data_offsets, got no dtype"},
      {"no shape", one(R"({"dtype":"F32","data_offsets":[0,4]})", 4),
       "tensor 'w': wanted dtype, shape and data_offsets, got no shape"},
      {"no offsets", one(R"({"dtype":"F32","shape":[1]})", 4),
       "tensor 'w': wanted dtype, shape and data_offsets, got no data_offsets"},
      {"one offset", one(R"({"dtype":"F32","shape":[1],"data_offsets":[0]})", 4),
       "tensor 'w': wanted two data_offsets, got 1"},
      {"three offsets", one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4,4]})", 4),
       "tensor 'w': data_offsets has more than 2 numbers"},
      {"seven dimensions", one(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1],"data_offsets":[0,4]})", 4),
       "tensor 'w': shape has more than 6 numbers"},
      {"an invented dtype", one(R"({"dtype":"F31","shape":[1],"data_offsets":[0,4]})", 4),
       "tensor 'w': there is no dtype 'F31'"},
      {"bytes", one(R"({"dtype":"U8","shape":[8],"data_offsets":[0,8]})", 8),
       "tensor 'w': wanted F32, F64, F16, BF16, I32, I64 or BOOL, got U8"},
      {"a negative extent", one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})", 4),
       "the header has -1 in 'shape' of 'w', where it does not belong"},
      {"a broken extent", one(R"({"dtype":"F32","shape":[1.5],"data_offsets":[0,4]})", 4),
       "the header has 1.5 in 'shape' of 'w', where it does not belong"},
      {"more elements than 64 bits count",
       one(R"({"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]})", 0),
       "tensor 'w': [4294967296, 4294967296, 4] has more elements than memory can hold"},
      {"an extent beyond 63 bits",
       one(R"({"dtype":"F32","shape":[18446744073709551615,0],"data_offsets":[0,0]})", 0),
       "tensor 'w': [18446744073709551615, 0] has more elements than memory can hold"},
      {"an extent beside 0 that no shape has",
       one(R"({"dtype":"F32","shape":[0,1152921504606846976],"data_offsets":[0,0]})", 0),
       "tensor 'w': [0, 1152921504606846976] has more elements than memory can hold"},
      {"offsets back to front", one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})", 4),
       "tensor 'w': its bytes 4 to 0 lie outside of the 4 that the file holds"},
      {"data cut short", one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", 7),
       "tensor 'w': its bytes 0 to 8 lie outside of the 7 that the file holds"},
      {"bytes that are not the shape's", one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,8]})", 8),
       "tensor 'w': F32 [3] takes 12 bytes, but its offsets leave 8"},
      {"a gap at the start", one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,8]})", 8),
       "tensor 'w' begins at byte 4, a gap after the end of the one before, 0"},
      {"an overlap",
       file_of(
           R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
           8),
       "tensor 'b' begins at byte 4, inside, before the end of the one before, 8"},
      {"bytes after the last tensor", one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})", 5),
       "1 bytes after the last tensor belong to no tensor"},
      {"a number as metadata", file_of(R"({"__metadata__":{"format":1}})", 0),
       "the header has 1 in 'format' of '__metadata__', where it does not belong"},
      {"metadata twice", file_of(R"({"__metadata__":{"format":"pt","format":"tf"}})", 0),
       "metadata 'format' appears twice in the header"},
  };
  const TemporaryFolder folder;
  for (const Lie& lie : lies) {
    CAPTURE(lie.name);
    const std::string path = folder.write("x.safetensors", lie.bytes);
    CHECK(message_of([&] { read_safetensors(path); }) == path + ": " + lie.message);
  }
}

TEST_CASE("a file cut off anywhere is refused, and what is no file too") {
  const TemporaryFolder folder;
  const std::string whole = safetensors_bytes({.tensors = {{"a", zeros({3})}, {"b", zeros({2, 2})}}});
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK_THROWS_AS(read_safetensors(folder.write("x.safetensors", whole.substr(0, length))), Error);
  CHECK(message_of([&] { read_safetensors(folder / "none"); }) ==
        (folder / "none") + ": cannot be read; is it there, and a file?");
  CHECK(message_of([&] { read_safetensors(folder / ""); }) ==
        (folder / "") + ": cannot be read; is it there, and a file?");
}

TEST_CASE("the format's other dtypes pass where nobody wants their tensors") {
  const TemporaryFolder folder;
  const std::string path = folder.write(
      "x.safetensors",
      file_of(
          R"({"mask":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"w":{"dtype":"F32","shape":[1],"data_offsets":[3,7]}})",
          7));
  const Safetensors file = read_safetensors(path, [](const std::string& name) { return name == "w"; });
  CHECK(file.tensors.at("w").item() == 0);
}

}  // namespace isobar::safetensors_test
