#include "shipped.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "../core/error.h"
#include "file.h"
#include "known_files.h"
#include "mnist.h"

namespace isobar {
namespace {

namespace fs = std::filesystem;

constexpr const char* mnist_images = "t10k-images-idx3-ubyte";
constexpr size_t largest = size_t{1} << 24;  // bytes

bool is_file(const fs::path& path) {
  std::error_code unreadable;  // a folder without permission counts as empty
  return fs::is_regular_file(path, unreadable);
}

// $ISOBAR_DATA; empty where it is not set.
fs::path users_folder() {
  const char* value = std::getenv("ISOBAR_DATA");
  return value != nullptr ? value : "";
}

// share/isobar of the package that the running program is installed in, wherever that has been moved; empty
// where there is none.
fs::path beside_this_program() {
  std::error_code failed;
  const fs::path bin = fs::read_symlink("/proc/self/exe", failed).parent_path();
  const fs::path folder = bin.parent_path() / "share/isobar";
  return !bin.empty() && fs::is_directory(folder, failed) ? folder : fs::path();
}

// The file's path in the installed package or in the source tree, whichever is there.
fs::path shipped(const ShippedFile& file) {
  for (const fs::path& folder :
       {beside_this_program(), fs::path(ISOBAR_SOURCE_DATA), fs::path(ISOBAR_INSTALLED_DATA)}) {
    const fs::path path = folder / file.name;
    if (folder.empty() || !is_file(path)) continue;
    const std::string found = checksum(read_file(path, largest));
    check(found == file.xxh3,
          "{}: this is not the file that comes with Isobar: wanted xxh3 {}, got {}; restore it, or set "
          "ISOBAR_DATA to a folder with a file of your own",
          path.string(), file.xxh3, found);
    return path;
  }
  throw_error(fmt::format(
      "{} is neither in {} nor in {}; install Isobar again, or set ISOBAR_DATA to a folder that has it",
      file.name, ISOBAR_SOURCE_DATA, ISOBAR_INSTALLED_DATA));
}

}  // namespace

fs::path find_tiny_shakespeare() {
  const fs::path folder = users_folder();
  if (!folder.empty() && is_file(folder / tiny_shakespeare.name)) return folder / tiny_shakespeare.name;
  return shipped(tiny_shakespeare);
}

fs::path find_king_james() {
  const fs::path path = users_folder() / king_james.name;
  const std::string how = "Debian's package bible-kjv writes it: bible -f gen1:1-rev22:21 > kjv.txt";
  check(!users_folder().empty() && is_file(path),
        "--corpus kjv: wanted the King James Bible as kjv.txt in the folder ISOBAR_DATA ('{}'); {}",
        users_folder().string(), how);
  const std::string found = checksum(read_file(path, largest));
  check(found == king_james.xxh3, "{}: this is not the King James Bible: wanted xxh3 {}, got {}; {}",
        path.string(), king_james.xxh3, found, how);
  return path;
}

fs::path find_mnist() {
  const fs::path folder = users_folder() / "mnist";
  if (!users_folder().empty() && !find_idx(folder, mnist_images).empty()) return folder;
  fs::path images;
  for (const ShippedFile& file : mnist_files) images = shipped(file);
  return images.parent_path();
}

std::vector<DataFile> digit_files(const fs::path& folder) {
  std::vector<DataFile> files;
  for (const std::string part : {"t10k", "train"})
    for (const char* content : {"-images-idx3-ubyte", "-labels-idx1-ubyte"}) {
      const std::string name = part + content;
      const fs::path path = find_idx(folder, name);
      if (part == "train" && files.size() == 2 && path.empty()) return files;
      check(!path.empty(), "mnist: {} is missing in {}", name, folder.string());
      files.push_back({"mnist/" + name + (path.extension() == ".gz" ? ".gz" : ""),
                       checksum(read_file(path.string(), size_t{1} << 30))});
    }
  return files;
}

std::string passed_over(const fs::path& found) {
  const fs::path folder = users_folder(), name = found.filename();
  if (folder.empty() || found == folder / name) return "";
  std::error_code unknown;
  const std::string missing =
      !fs::is_directory(folder, unknown)
          ? fmt::format("there is no folder {}", folder.string())
          : fmt::format("{} has no {}", folder.string(),
                        name == "mnist" ? fmt::format("mnist/{}", mnist_images) : name.string());
  return fmt::format("ISOBAR_DATA: {}; {}, which comes with Isobar, is read instead", missing,
                     found.string());
}

}  // namespace isobar
