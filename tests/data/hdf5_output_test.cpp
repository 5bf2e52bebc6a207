// HDF5 files whose series go to the disk in chunks.
#include <doctest/doctest.h>

#include "../../data/hdf5_file.h"
#include "../file_size_limit.h"
#include "../temporary_folder.h"

namespace isobar::hdf5_output_test {

Hdf5File example() {
  Hdf5File file = Hdf5File::create("m");
  file.set_attribute("/", "program", std::string("größe"));
  file.write("/modules", std::vector<std::string>{"fc1", "", "blocks.3.norm"});
  return file;
}

void append_series(Hdf5Output& output, int count) {
  for (int i = 0; i < count; ++i) {
    output.append("/series/deep/loss", std::array{1.0 * i}, 1);
    if (i % 1000 == 0) output.append("/series/rows", std::array{1.0 * i, 2.0}, 2);
  }
}

TEST_CASE(
    "an HDF5 file written in chunks has the copy's content and every row, and appears when it is saved") {
  const TemporaryFolder folder;
  folder.write("run.h5", "what stood there before");
  Hdf5File file = example();
  {
    Hdf5Output output(folder / "run.h5", file);
    append_series(output, 5000);
    CHECK_THROWS_WITH_AS(output.append("/series/rows", std::array{3.0}, 1),
                         doctest::Contains("wanted rows of 2 values, got 1 values in rows of 1"), Error);
    CHECK_THROWS_AS(output.append("/series/rows", std::array{3.0, 4.0, 5.0}, 2), Error);
    CHECK(file_text(folder / "run.h5") == "what stood there before");
    output.save();
  }
  CHECK(folder.names() == std::vector<std::string>{"run.h5"});
  const Hdf5File read = Hdf5File::open(folder / "run.h5");
  CHECK(read.text_attribute("/", "program") == "größe");
  CHECK(read.read_strings("/modules") == std::vector<std::string>{"fc1", "", "blocks.3.norm"});
  CHECK(read.read("/series/rows").to_vector<double>() ==
        std::vector<double>{0, 2, 1000, 2, 2000, 2, 3000, 2, 4000, 2});
  const std::vector<double> loss = read.read("/series/deep/loss").to_vector<double>();
  REQUIRE(loss.size() == 5000);
  for (size_t i = 0; i < loss.size(); ++i) CHECK(loss[i] == static_cast<double>(i));
  CHECK(std::filesystem::file_size(folder / "run.h5") < 5000 * sizeof(double) + 60'000);  // no spare space
}

TEST_CASE("the same rows give the same bytes, and without save() nothing is left") {
  const TemporaryFolder folder;
  Hdf5File file = example();
  for (const char* name : {"1.h5", "2.h5"}) {
    Hdf5Output output(folder / name, file);
    append_series(output, 3000);
    output.save();
  }
  CHECK((file_text(folder / "1.h5") == file_text(folder / "2.h5")));
  append_series(*std::make_unique<Hdf5Output>(folder / "3.h5", file), 3000);
  CHECK(folder.names() == std::vector<std::string>{"1.h5", "2.h5"});
}

TEST_CASE("a disk that has no room for the rows is an error, and the file before stays") {
  const TemporaryFolder folder;
  folder.write("run.h5", "before");
  Hdf5File file = example();
  const auto written = [&] {
    Hdf5Output output(folder / "run.h5", file);
    append_series(output, 400'000);
    output.save();
  };
  for (const rlim_t most : {1'000, 50'000, 2'000'000}) {
    const FileSizeLimit limit(most);
    CHECK_THROWS_WITH_AS(written(), doctest::Contains("File too large"), Error);
  }
  CHECK(file_text(folder / "run.h5") == "before");
  CHECK(folder.names() == std::vector<std::string>{"run.h5"});
}

}  // namespace isobar::hdf5_output_test
