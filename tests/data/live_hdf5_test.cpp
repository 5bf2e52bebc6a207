// HDF5 files that are read while they grow. In one process HDF5 takes all that open a file for one, so the
// readers here are another process, or come when the writer is gone; live_test.cpp reads a living run's.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../data/hdf5_file.h"
#include "../file_size_limit.h"
#include "../temporary_folder.h"

namespace isobar::live_hdf5_test {

Hdf5File example() {
  Hdf5File file = Hdf5File::create("m");
  file.set_attribute("/", "program", std::string("größe"));
  file.make_group("/config");
  for (int i = 0; i < 20; ++i) file.set_attribute("/config", fmt::format("depth{}", i), int64_t{i});
  file.set_attribute("/config", "alpha", 0.5);
  file.write("/modules", std::vector<std::string>{"fc1", "", "blocks.3.norm"});
  file.write("/a/x", tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  return file;
}

const std::vector<LiveHdf5File::Series> series = {{"/series/deep/loss", 1}, {"/series/rows", 2}};

// 2000 values of one series and a row of the other.
void begin_series(LiveHdf5File& live) {
  for (int i = 0; i < 2000; ++i) live.append("/series/deep/loss", std::array{1.0 * i});
  live.append("/series/rows", std::array{1.0, 2.0});
}

TEST_CASE("a live HDF5 file is a copy whose series grow, and when it is closed a file like any other") {
  const TemporaryFolder folder;
  folder.write("run.h5", "what stood there before");
  {
    LiveHdf5File live(folder / "run.h5", example(), series);
    begin_series(live);
    CHECK(live.has_series("/series/rows"));
    CHECK_FALSE(live.has_series("/a/x"));
    for (int i = 2000; i < 5000; ++i) live.append("/series/deep/loss", std::array{1.0 * i});
    live.flush();
    live.append("/series/rows", std::array{3.0, 4.0});
    CHECK_THROWS_WITH_AS(live.append("/series/rows", std::array{3.0}),
                         doctest::Contains("wanted rows of 2 values, got 1"), Error);
    CHECK_THROWS_WITH_AS(live.append("/series/none", std::array{3.0}),
                         doctest::Contains("there is no series '/series/none'"), Error);
  }
  CHECK(folder.names() == std::vector<std::string>{"run.h5"});
  const Hdf5File read = Hdf5File::open(folder / "run.h5");
  CHECK(read.text_attribute("/", "program") == "größe");
  CHECK(read.int_attribute("/config", "depth19") == 19);
  CHECK(read.double_attribute("/config", "alpha") == 0.5);
  CHECK(read.read_strings("/modules") == std::vector<std::string>{"fc1", "", "blocks.3.norm"});
  CHECK(read.read("/a/x").to_vector<float>() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(read.read("/series/rows").to_vector<double>() == std::vector<double>{1, 2, 3, 4});
  const std::vector<double> loss = read.read("/series/deep/loss").to_vector<double>();
  REQUIRE(loss.size() == 5000);
  for (size_t i = 0; i < loss.size(); ++i) CHECK(loss[i] == static_cast<double>(i));
}

TEST_CASE("a live HDF5 file whose writer was killed shows what was flushed") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  const Hdf5File file = example();
  const pid_t writer = ::fork();
  if (writer == 0) {
    try {
      LiveHdf5File live(path, file, series);
      begin_series(live);
      live.append("/series/rows", std::array{3.0, 4.0});
      live.flush();
      live.append("/series/rows", std::array{5.0, 6.0});
      ::raise(SIGKILL);
    } catch (...) {
    }
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(writer, &status, 0) == writer);
  REQUIRE((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  CHECK_THROWS_AS(Hdf5File::open(path), Error);
  const Hdf5File read = Hdf5File::open_live(path);
  CHECK(read.read("/series/rows").to_vector<double>() == std::vector<double>{1, 2, 3, 4});
  CHECK(read.read("/series/deep/loss").numel() == 2000);

  std::filesystem::resize_file(path, 20000);
  std::filesystem::copy_file(path, folder / "cut.h5");
  CHECK_THROWS_WITH_AS(Hdf5File::open_live(folder / "cut.h5"), doctest::Contains("it is cut off"), Error);
}

TEST_CASE("a live HDF5 file whose folder was moved makes no second file under its old name") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "old");
  LiveHdf5File live(folder / "old/run.h5", example(), series);
  std::filesystem::rename(folder / "old", folder / "new");
  std::filesystem::create_directory(folder / "old");
  live.append("/series/rows", std::array{3.0, 4.0});
  CHECK_THROWS_WITH_AS(live.flush(), doctest::Contains("No such file or directory"), Error);
  CHECK(std::filesystem::is_empty(folder / "old"));
}

TEST_CASE("a live HDF5 file that the disk has no room for is an error, and what was flushed stays") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.h5";
  folder.write("run.h5", "before");
  {
    const FileSizeLimit limit(20000);
    CHECK_THROWS_WITH_AS(LiveHdf5File(path, example(), series), doctest::Contains("File too large"), Error);
  }
  CHECK(folder.names() == std::vector<std::string>{"run.h5"});
  CHECK(file_text(path) == "before");
  {
    const FileSizeLimit limit(3 << 20);
    LiveHdf5File live(path, example(), series);
    begin_series(live);
    live.append("/series/rows", std::array{3.0, 4.0});
    live.flush();
    for (int i = 0; i < 300'000; ++i) live.append("/series/deep/loss", std::array{0.0});
    CHECK_THROWS_WITH_AS(live.flush(), doctest::Contains("File too large"), Error);
  }
  const Hdf5File read = Hdf5File::open(path);
  CHECK(read.read("/series/rows").numel() == 4);
  CHECK(read.read("/series/deep/loss").numel() == 2000);
}

}  // namespace isobar::live_hdf5_test
