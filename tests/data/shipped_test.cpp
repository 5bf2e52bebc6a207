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
  for (const std::string name :
       {"images-idx3-ubyte", "images-idx3-ubyte.gz", "images.idx3-ubyte", "images.idx3-ubyte.gz"}) {
    const std::string images = folder.write("mnist/t10k-" + name, "x");
    CHECK(find_mnist() == folder / "mnist");
    std::filesystem::remove(images);
  }
}

TEST_CASE("what ISOBAR_DATA lacks is said, with the file or folder that is read instead") {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  folder.write("mnist/train-images-idx3-ubyte", "x");
  const auto said = [](const std::string& users, const auto& found) {
    const ScopedVariable data("ISOBAR_DATA", users);
    return passed_over(found());
  };
  const auto shipped_mnist = [] {
    const ScopedVariable data("ISOBAR_DATA", std::nullopt);
    return find_mnist().string();
  };
  const auto shipped_text = [] {
    const ScopedVariable data("ISOBAR_DATA", std::nullopt);
    return find_tiny_shakespeare().string();
  };
  CHECK(said(at, find_tiny_shakespeare) == "ISOBAR_DATA: " + at + " has no tinyshakespeare.txt; " +
                                               shipped_text() + ", which comes with Isobar, is read instead");
  CHECK(said(at, find_mnist) == "ISOBAR_DATA: " + at + " has no mnist/t10k-images-idx3-ubyte; " +
                                    shipped_mnist() + ", which comes with Isobar, is read instead");
  CHECK(said(at + "/none", find_mnist) == "ISOBAR_DATA: there is no folder " + at + "/none; " +
                                              shipped_mnist() + ", which comes with Isobar, is read instead");
  CHECK(said("", find_mnist) == "");
  folder.write("mnist/t10k-images.idx3-ubyte", "x");
  folder.write("tinyshakespeare.txt", "x");
  CHECK(said(at, find_mnist) == "");
  CHECK(said(at, find_tiny_shakespeare) == "");
}

}  // namespace isobar::shipped_test
