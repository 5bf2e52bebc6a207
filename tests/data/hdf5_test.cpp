#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "../../core/raw.h"
#include "../../data/file.h"
#include "../../data/hdf5_file.h"
#include "../file_size_limit.h"
#include "../holds.h"
#include "../message_of.h"
#include "../temporary_folder.h"

namespace isobar::hdf5_test {

void fill(Hdf5File& file) {
  file.set_attribute("/", "name", std::string("größe"));
  file.make_group("/config");
  file.set_attribute("/config", "depth", int64_t{8});
  file.set_attribute("/config", "alpha", 0.5);
  file.write("/a/b/x", tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  file.write("/a/steps", std::vector<int64_t>{7, -8});
  file.write("/a/paths", std::vector<std::string>{"fc1", "", "blocks.3.norm"});
  for (int i = 0; i < 2000; ++i) {
    file.append<double>("/series/loss", std::array{std::ldexp(1.0, -i)});
    file.append<float>("/series/rows", std::array{1.0f * i, 2.0f * i});
  }
}

TEST_CASE("an HDF5 file gives back attributes, tensors, texts and series as they were written") {
  const TemporaryFolder folder;
  {
    Hdf5File file = Hdf5File::create("run");
    fill(file);
    file.save(folder / "run.h5");
  }
  const Hdf5File file = Hdf5File::open(folder / "run.h5");
  CHECK(file.text_attribute("/", "name") == "größe");
  CHECK(file.int_attribute("/config", "depth") == 8);
  CHECK(file.double_attribute("/config", "alpha") == 0.5);
  CHECK(file.names("/a") == std::vector<std::string>{"b", "paths", "steps"});
  const Tensor x = file.read("/a/b/x");
  CHECK(x.shape() == Shape{2, 3});
  CHECK(x.dtype() == Dtype::f32);
  CHECK(x.to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(file.read("/a/steps").to_vector<int64_t>() == std::vector<int64_t>{7, -8});
  CHECK(file.read_strings("/a/paths") == std::vector<std::string>{"fc1", "", "blocks.3.norm"});
  const Tensor loss = file.read("/series/loss");
  CHECK(loss.shape() == Shape{2000});
  CHECK(loss.at({1050}) == std::ldexp(1.0, -1050));  // a subnormal number survives
  CHECK(file.read("/series/rows").shape() == Shape{2000, 2});
  CHECK(file.read("/series/rows").at({1999, 1}) == 3998);
}

TEST_CASE("the same calls give the same bytes, whether or not the file was saved in between") {
  const TemporaryFolder folder;
  Hdf5File one = Hdf5File::create("m"), two = Hdf5File::create("m");
  fill(one);
  fill(two);
  const std::string image = one.image();
  CHECK(image == two.image());
  one.save(folder / "1.h5");
  CHECK(read_file(folder / "1.h5", 1 << 20) == image);
  one.append<double>("/series/loss", std::array{0.5});
  two.append<double>("/series/loss", std::array{0.5});
  CHECK(one.image() == two.image());
  CHECK(Hdf5File::open(folder / "1.h5").read("/series/loss").shape() == Shape{2000});
  one.save(folder / "1.h5");
  CHECK(Hdf5File::open(folder / "1.h5").read("/series/loss").shape() == Shape{2001});
  CHECK(folder.names() == std::vector<std::string>{"1.h5"});
}

TEST_CASE("strided and empty tensors are written by value") {
  Hdf5File file = Hdf5File::create("m");
  const Tensor x = tensor({2, 2}, std::vector<double>{1, 2, 3, 4});
  file.write("/t", raw::as_strided(x, {2, 2}, {1, 2}));
  file.write("/none", zeros({0, 3}));
  file.write("/number", zeros({}));
  CHECK(file.read("/t").to_vector<double>() == std::vector<double>{1, 3, 2, 4});
  CHECK(file.read("/none").shape() == Shape{0, 3});
  CHECK(file.read("/number").shape() == Shape{});
}

TEST_CASE("misuse of an HDF5 file names file, object and what was wanted") {
  const TemporaryFolder folder;
  Hdf5File file = Hdf5File::create("m");
  file.write("/x", std::vector<double>{1});
  file.set_attribute("/x", "unit", std::string("ms"));
  file.append<double>("/s", std::array{1.0, 2.0});
  CHECK_THROWS_WITH_AS(file.write("/x", std::vector<double>{1}), "hdf5: m: '/x' exists already", Error);
  CHECK_THROWS_WITH_AS(file.read("/y"), "hdf5: m: there is no '/y'", Error);
  CHECK_THROWS_WITH_AS(file.read("y"), doctest::Contains("wanted an absolute path"), Error);
  CHECK_THROWS_WITH_AS(file.int_attribute("/x", "unit"), doctest::Contains("wanted a single integer"), Error);
  CHECK_THROWS_WITH_AS(file.text_attribute("/x", "size"), "hdf5: m: '/x' has no attribute 'size'", Error);
  CHECK_THROWS_WITH_AS(file.append<double>("/s", std::array{1.0}),
                       doctest::Contains("rows of another length"), Error);
  CHECK_THROWS_WITH_AS(file.append<double>("/s", std::array{1.0, 2.0, 3.0}),
                       doctest::Contains("a row of 2 values, got 3"), Error);
  CHECK_THROWS_WITH_AS(file.set_attribute("/x", "long", std::string(70000, 'x')), doctest::Contains("60000"),
                       Error);
  CHECK_THROWS_WITH_AS(Hdf5File::open(folder / "no.h5"), doctest::Contains("No such file or directory"),
                       Error);
  CHECK_THROWS_WITH_AS(file.save(folder / "no/run.h5"), doctest::Contains("No such file or directory"),
                       Error);
  CHECK_THROWS_WITH_AS(file.write("/mask", zeros({2}, Dtype::boolean)),
                       "hdf5: masks (bool) are not stored; convert with cast(mask, Dtype::i32)", Error);
  CHECK_THROWS_AS(Hdf5File::open(folder.write("junk", "not an HDF5 file")), Error);
}

TEST_CASE("a dataset that declares more than the file holds is refused before anything is allocated") {
  // The extent of a dataset of 5 doubles is replaced by 2^39 in the bytes of the file.
  Hdf5File file = Hdf5File::create("m");
  file.write("/x", std::vector<double>{1, 2, 3, 4, 5});
  std::string image = file.image();
  const uint64_t honest = 5, hostile = uint64_t{1} << 39;
  size_t replaced = 0;
  for (size_t i = 0; i + 8 <= image.size(); ++i)
    if (std::memcmp(&image[i], &honest, 8) == 0) {
      std::memcpy(&image[i], &hostile, 8);
      ++replaced;
    }
  REQUIRE(replaced > 0);
  const TemporaryFolder folder;
  const Hdf5File read = Hdf5File::open(folder.write("hostile.h5", image));
  const std::string said = message_of([&] { read.read("/x"); });
  const bool refused =
      holds(said, "declares") || holds(said, "likely file corruption");  // HDF5 2 says it itself
  CHECK_MESSAGE(refused, said);
}

TEST_CASE("a dataset whose layout holds less than its shape is refused before it is read") {
  // Its layout (version 3, contiguous, place, 4096 bytes) becomes a compact one of 0 or 8 bytes.
  Hdf5File file = Hdf5File::create("m");
  file.write("/x", zeros({512}, Dtype::f64));
  const std::string image = file.image(), layout("\x03\x01", 2), length("\x00\x10\0\0\0\0\0\0", 8);
  size_t at = image.find(length);
  while (at != std::string::npos && (at < 10 || image.compare(at - 10, 2, layout) != 0))
    at = image.find(length, at + 1);
  REQUIRE(at != std::string::npos);
  const TemporaryFolder folder;
  for (const char size : {'\0', '\x08'}) {
    std::string hostile = image;
    hostile[at - 9] = 0;
    hostile[at - 8] = size;
    hostile[at - 7] = 0;
    const std::string said =
        message_of([&] { Hdf5File::open(folder.write("hostile.h5", hostile)).read("/x"); });
    const bool refused = holds(said, "declares 4096 bytes, but holds") ||
                         holds(said, "doesn't match size of dataset data");  // HDF5 2 says it itself
    CHECK_MESSAGE(refused, said);
  }
}

TEST_CASE("a truncated HDF5 file is an error, not a crash") {
  Hdf5File file = Hdf5File::create("m");
  fill(file);
  const std::string image = file.image();
  const TemporaryFolder folder;
  for (size_t length : {size_t{1}, size_t{100}, image.size() / 2, image.size() - 1})
    CHECK_THROWS_AS(Hdf5File::open(folder.write("cut.h5", image.substr(0, length))).read("/series/loss"),
                    Error);
}

TEST_CASE("an HDF5 file that the disk has no room for leaves the old one in place") {
  const TemporaryFolder folder;
  Hdf5File file = Hdf5File::create("run");
  file.save(folder / "run.h5");
  file.write("/x", zeros({100000}));
  {
    const FileSizeLimit limit(20000);
    CHECK_THROWS_WITH_AS(file.save(folder / "run.h5"), doctest::Contains("File too large"), Error);
  }
  CHECK(folder.names() == std::vector<std::string>{"run.h5"});
  CHECK_FALSE(Hdf5File::open(folder / "run.h5").has("/x"));
  file.save(folder / "run.h5");
  CHECK(Hdf5File::open(folder / "run.h5").has("/x"));
}

}  // namespace isobar::hdf5_test
