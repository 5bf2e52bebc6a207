// The data that come with Isobar are found without any variable, and files of the user win.
#include "../../data/shipped.h"

#include <doctest/doctest.h>

#include "../../data/file.h"
#include "../scoped_variable.h"
#include "../temporary_folder.h"

namespace isobar::shipped_test {

TEST_CASE("Tiny Shakespeare and MNIST's test images are found without any variable") {
  const ScopedVariable data("ISOBAR_DATA", std::nullopt);
  CHECK(checksum(read_file(find_tiny_shakespeare(), size_t{1} << 21)) == "6572a3fb9fde75d3");
  CHECK(std::filesystem::exists(find_mnist() / "t10k-labels-idx1-ubyte.gz"));
}

TEST_CASE("a file in ISOBAR_DATA is read in place of the shipped one") {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  const ScopedVariable data("ISOBAR_DATA", at);
  CHECK(find_tiny_shakespeare() != folder / "tinyshakespeare.txt");
  CHECK(find_mnist() != folder / "mnist");
  const auto text = folder.write("tinyshakespeare.txt", "x");
  CHECK(find_tiny_shakespeare() == text);
  folder.write("mnist/t10k-images-idx3-ubyte", "x");
  CHECK(find_mnist() == folder / "mnist");
}

}  // namespace isobar::shipped_test
