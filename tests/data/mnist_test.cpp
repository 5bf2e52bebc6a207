#include "../../data/mnist.h"

#include <doctest/doctest.h>
#include <cstdlib>

#include "../../data/loader.h"
#include "../../data/shipped.h"
#include "../fake_mnist.h"
#include "../message_of.h"
#include "gzipped.h"

namespace isobar::mnist_test {

constexpr char image_name[] = "t10k-images-idx3-ubyte", label_name[] = "t10k-labels-idx1-ubyte";

// Pixel p of image i is (7 · i + p) mod 256.
std::string pixels(int images) {
  std::string values;
  for (int i = 0; i < images; ++i)
    for (int p = 0; p < 784; ++p) values.push_back(static_cast<char>(7 * i + p));
  return values;
}

std::string refusal_of(const TemporaryFolder& folder) {
  return message_of([&] { Mnist(folder.path(), {.train = false}); });
}

// What reading says of these files, with the folder's name taken out.
std::string verdict(const std::string& images, const std::string& labels) {
  const TemporaryFolder folder;
  folder.write(image_name, images);
  folder.write(label_name, labels);
  std::string message = refusal_of(folder);
  const std::string prefix = folder.path().string() + "/";
  for (size_t at; (at = message.find(prefix)) != std::string::npos;) message.erase(at, prefix.size());
  return message;
}

const std::string good_labels = idx({3}, {0, 9, 4});

TEST_CASE("mnist reads the real test images") {
  const Mnist mnist(find_mnist(), {.train = false});
  REQUIRE(mnist.size() == 10000);
  const auto [x, y] = mnist.batch(arange(10).to_vector<int64_t>());
  CHECK(y.to_vector<int64_t>() == std::vector<int64_t>{7, 2, 1, 0, 4, 1, 4, 9, 5, 9});

  // Read apart from this library (gzip, od, Python): mean pixel 0.13251460584233693, 1135 ones.
  double sum = 0;
  int64_t ones = 0;
  for (auto [images, labels] : Loader(mnist, {.batch_size = 500, .shuffle = false}, Rng(1)).epoch(0)) {
    for (const double pixel : images.to_vector<double>()) sum += pixel;
    for (const int64_t label : labels.to_vector<int64_t>()) ones += label == 1;
  }
  CHECK(sum / (10000 * 784) == doctest::Approx(0.13251460584233693).epsilon(1e-6));  // pixels are f32
  CHECK(ones == 1135);
}

TEST_CASE("mnist gives pixels as fractions of 255, flat or as images") {
  const TemporaryFolder folder;
  folder.write(image_name, idx({3, 28, 28}, pixels(3)));
  folder.write(label_name, good_labels);
  const std::vector<int64_t> indices{2, 0, 2};
  const auto [flat, y] = Mnist(folder.path(), {.train = false}).batch(indices);
  CHECK(flat.shape() == Shape{3, 784});
  CHECK(flat.dtype() == Dtype::f32);
  CHECK(flat.at({0, 5}) == doctest::Approx((14 + 5) / 255.0).epsilon(1e-7));
  CHECK(flat.at({1, 255}) == 1.0);
  CHECK(flat.at({1, 256}) == 0.0);
  CHECK(y.to_vector<int64_t>() == std::vector<int64_t>{4, 0, 4});

  const Batch image = Mnist(folder.path(), {.train = false, .flatten = false}).batch(indices);
  CHECK(image.x.shape() == Shape{3, 1, 28, 28});
  CHECK(image.x.to_vector<float>() == flat.to_vector<float>());

  const std::vector<int64_t> outside{3};
  CHECK_THROWS_WITH_AS(Mnist(folder.path(), {.train = false}).batch(outside),
                       "mnist: image 3 is outside of 0 … 2", Error);
}

TEST_CASE("mnist reads gzipped files and plain ones, training and test") {
  const TemporaryFolder folder;
  folder.write("train-images-idx3-ubyte.gz", gzipped(idx({3, 28, 28}, pixels(3))));
  folder.write("train-labels-idx1-ubyte", good_labels);
  CHECK(Mnist(folder.path()).size() == 3);
  CHECK(refusal_of(folder) ==
        "mnist: none of t10k-images-idx3-ubyte, t10k-images-idx3-ubyte.gz, t10k-images.idx3-ubyte and "
        "t10k-images.idx3-ubyte.gz is in " +
            folder.path().string() + "; put one there or name another folder");
}

TEST_CASE("mnist reads files whose names have a dot, as some archives write them") {
  const TemporaryFolder folder;
  folder.write("t10k-images.idx3-ubyte.gz", gzipped(idx({3, 28, 28}, pixels(3))));
  folder.write("t10k-labels.idx1-ubyte", good_labels);
  CHECK(Mnist(folder.path(), {.train = false}).size() == 3);
}

TEST_CASE("mnist refuses every broken header with its own line") {
  const std::string good = idx({3, 28, 28}, pixels(3));
  REQUIRE(verdict(good, good_labels) == "");
  const auto broken = [&](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return verdict(bytes, good_labels);
  };
  CHECK(broken(0, 'P') == "idx: t10k-images-idx3-ubyte is no IDX file: it starts with 50 00, wanted 00 00");
  CHECK(broken(2, '\x0D') ==
        "idx: t10k-images-idx3-ubyte holds values of type 0x0d, wanted 0x08 (unsigned bytes)");
  CHECK(broken(3, '\1') == "idx: t10k-images-idx3-ubyte has 1 dimensions, wanted 3");
  CHECK(broken(3, '\xFF') == "idx: t10k-images-idx3-ubyte has 255 dimensions, wanted 3");
  CHECK(broken(11, '\x1D') == "idx: dimension 1 of t10k-images-idx3-ubyte is 29, wanted items of [28, 28]");
  CHECK(broken(12, '\xFF') ==
        "idx: dimension 2 of t10k-images-idx3-ubyte is 4278190108, wanted items of [28, 28]");
  CHECK(broken(4, '\xFF') == "idx: t10k-images-idx3-ubyte declares 4278190083 items, wanted 1 … 1048576");
  CHECK(broken(7, '\0') == "idx: t10k-images-idx3-ubyte declares 0 items, wanted 1 … 1048576");
  for (size_t length = 0; length < 16; ++length) {
    CAPTURE(length);
    CHECK(verdict(good.substr(0, length), good_labels) ==
          "idx: t10k-images-idx3-ubyte ends inside its header; get the file again");
  }
}

TEST_CASE("mnist refuses content that is not what the header declares") {
  const std::string good = idx({3, 28, 28}, pixels(3));
  CHECK(
      verdict(good.substr(0, good.size() - 1), good_labels) ==
      "idx: t10k-images-idx3-ubyte is cut short: it declares 2352 values and holds 2351; get the file again");
  // The largest declaration that passes, 822 MB, costs no more than the bytes that are there.
  CHECK(verdict(idx({1 << 20, 28, 28}, "abc"), good_labels) ==
        "idx: t10k-images-idx3-ubyte is cut short: it declares 822083584 values and holds 3; get the file "
        "again");
  CHECK(verdict(good + "x", good_labels) ==
        "idx: t10k-images-idx3-ubyte goes on after the 2352 values that it declares");
  CHECK(verdict(good, idx({4}, {0, 9, 4, 1})) ==
        "mnist: t10k-labels-idx1-ubyte holds 4 labels but t10k-images-idx3-ubyte holds 3 images; they do not "
        "belong together");
  CHECK(verdict(good, idx({3}, {0, 10, 4})) ==
        "mnist: label 1 of t10k-labels-idx1-ubyte is 10, wanted 0 … 9");
}

TEST_CASE("mnist refuses a gzip file that is cut or damaged") {
  const std::string squeezed = gzipped(idx({3, 28, 28}, pixels(3)));
  REQUIRE(verdict(squeezed, good_labels) == "");
  CHECK(verdict(squeezed.substr(0, squeezed.size() / 2), good_labels) ==
        "idx: cannot read t10k-images-idx3-ubyte: unexpected end of file");
  // The last eight bytes are the checksum and the length (RFC 1952, section 2.3).
  CHECK(verdict(squeezed.substr(0, squeezed.size() - 4), good_labels) ==
        "idx: cannot read t10k-images-idx3-ubyte: unexpected end of file");
  std::string damaged = squeezed;
  damaged[damaged.size() - 8] ^= 1;
  CHECK(verdict(damaged, good_labels) == "idx: cannot read t10k-images-idx3-ubyte: incorrect data check");
}

TEST_CASE("idx says why a file cannot be opened or read") {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  CHECK(message_of([&] { read_idx(at + "/none", {}); }) ==
        "idx: cannot open " + at + "/none: No such file or directory");
  CHECK(message_of([&] { read_idx(at, {}); }) == "idx: cannot read " + at + ": Is a directory");
}

}  // namespace isobar::mnist_test
