#include "../../data/npy_file.h"

#include <doctest/doctest.h>

#include <fstream>

#include "../message_of.h"
#include "../temporary_folder.h"

namespace isobar::npy_file_test {

// A file as numpy.save() writes it: the header is padded to a multiple of 64 bytes and ends with a line end.
std::string npy(const std::string& header, const std::string& bytes, char version = 1) {
  const size_t before = version == 1 ? 10 : 12;
  std::string text = header;
  while ((before + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  for (size_t i = 0; i < before - 8; ++i) file += static_cast<char>(text.size() >> 8 * i & 255);
  return file + text + bytes;
}

std::string header(const std::string& type, const std::string& shape, bool columns_first = false) {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type,
                     columns_first ? "True" : "False", shape);
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

Tensor read(const std::string& bytes) {
  const TemporaryFolder folder;
  std::ofstream(folder / "x.npy", std::ios::binary) << bytes;
  return read_npy(folder / "x.npy");
}

std::string refusal(const std::string& bytes) {
  const std::string message = message_of([&] { read(bytes); });
  const size_t name = message.find("x.npy: ");
  return name == message.npos ? message : message.substr(name + 7);
}

TEST_CASE("arrays of every type are read with their values") {
  const Tensor x = read(npy(header("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6.5})));
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6.5});
  CHECK(read(npy(header("<f8", "()"), bytes_of<double>({0.1}))).item() == 0.1);
  CHECK(read(npy(header("<i8", "(2,)"), bytes_of<int64_t>({-1, 1LL << 60}))).to_vector<int64_t>()[1] ==
        1LL << 60);
  CHECK(read(npy(header("<i4", "(1,)"), bytes_of<int32_t>({-7}), 2)).dtype() == Dtype::i32);
  CHECK(read(npy(header("|b1", "(2,)"), std::string("\0\1", 2), 3)).to_vector<bool>() ==
        std::vector<bool>{false, true});
  CHECK(read(npy(header("|u1", "(2,)"), "\xFF\x01")).to_vector<int32_t>() == std::vector<int32_t>{255, 1});
  CHECK(read(npy(header("|i1", "(1,)"), "\xFF")).item() == -1);
  CHECK(read(npy(header("<u2", "(1,)"), "\xFE\xFF")).item() == 65534);
  CHECK(read(npy(header("<i2", "(1,)"), "\xFE\xFF")).item() == -2);
  CHECK(read(npy(header("<f4", "(0, 3)"), "")).shape() == Shape{0, 3});
}

TEST_CASE("an array of columns first is put in order") {
  const Tensor x = read(npy(header("<f4", "(2, 3)", true), bytes_of<float>({1, 4, 2, 5, 3, 6})));
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("what is no such file, or another array than its header says, is refused") {
  const std::string good = npy(header("<f4", "(2,)"), bytes_of<float>({1, 2}));
  CHECK(refusal(good).empty());
  CHECK(refusal("") == "has 0 bytes; wanted a .npy file, which has more");
  CHECK(
      refusal("PK\3\4 not an array") ==
      "this is no .npy file, which begins with \\x93NUMPY; it may be an .npz: save each array by numpy.save()");
  CHECK(refusal(good.substr(0, 40)) == "ends inside its header; get the file again");
  CHECK(refusal(good + "x") == "declares an array [2] of <f4, and 9 bytes follow; get the file again");
  CHECK(refusal(good.substr(0, good.size() - 1)) ==
        "declares an array [2] of <f4, and 7 bytes follow; get the file again");
  CHECK(refusal(npy(header("<f4", "(4294967296, 4294967296, 4)"), "")).find("declares an array") == 0);
  CHECK(refusal(npy(header("<f4", "(1, 1, 1, 1, 1, 1, 1)"), "abcd")) ==
        "has 7 dimensions; a tensor has 6 at most");
  CHECK(
      refusal(npy(header(">f4", "(1,)"), "abcd")) ==
      "holds elements of type '>f4'; save it as one of f4, f8, i4, i8, i2, u2, i1, u1 and bool in little-endian "
      "order, such as x.astype('<f4')");
  CHECK(refusal(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "abcd")) ==
        "holds an array with named fields; save each field in a file of its own");
  CHECK(refusal(npy(header("|b1", "(1,)"), "\2")) == "element 0 of a mask is 2; wanted 0 or 1");
  std::string later = good;
  later[6] = 4;
  CHECK(refusal(later) == "is of version 4; wanted 1, 2 or 3");
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"}) {
    CAPTURE(text);
    CHECK(refusal(npy(text, "abcd")) ==
          "this is no .npy header that numpy.save() writes; save the array again");
  }
}

}  // namespace isobar::npy_file_test
