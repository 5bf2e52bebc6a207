#include "shipped.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "../core/error.h"
#include "file.h"
#include "known_files.h"
#include "mnist.h"

namespace isobar {

// The data of the package that a program is linked with: find_package(isobar COMPONENTS data) adds a source file
// that defines it to the program. Null in other programs.
[[gnu::weak]] extern const char linked_data_folder[];

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

// The running program, and the shared library that has this code; of a program with the static library, itself.
fs::path this_program() {
  std::error_code failed;
  return fs::read_symlink("/proc/self/exe", failed);
}
fs::path this_library() {
  Dl_info found{};
  ::dladdr(reinterpret_cast<void*>(&is_file), &found);
  const fs::path path = found.dli_fname != nullptr ? found.dli_fname : "";
  return path.is_absolute() ? path : this_program();
}

bool is_below(const fs::path& path, const fs::path& folder) {
  std::error_code missing;
  for (fs::path above = path; above.has_relative_path(); above = above.parent_path())
    if (fs::equivalent(above, folder, missing)) return true;
  return false;
}

// The folder of the data: that of the package that the program or the library is installed in, wherever it has
// been moved; else that of the package that the program was linked with; else, for the build tree's programs and
// libraries alone, that of the source tree; else where this build installs it.
fs::path data_folder() {
  const fs::path program = this_program(), library = this_library();
  for (const fs::path& beside :
       {program.parent_path() / ISOBAR_DATA_FROM_PROGRAM, library.parent_path() / ISOBAR_DATA_FROM_LIBRARY}) {
    std::error_code missing;
    if (fs::is_directory(beside, missing)) return fs::canonical(beside);
  }
  if (linked_data_folder != nullptr) return linked_data_folder;
  if (is_below(program, ISOBAR_BUILD_TREE) || is_below(library, ISOBAR_BUILD_TREE)) return ISOBAR_SOURCE_DATA;
  return ISOBAR_INSTALLED_DATA;
}

fs::path shipped(const ShippedFile& file) {
  const fs::path folder = data_folder(), path = folder / file.name;
  check(is_file(path), "{} is not in {}; install Isobar again, or set ISOBAR_DATA to a folder that has it",
        file.name, folder.string());
  const std::string found = checksum(read_file(path, largest));
  check(found == file.xxh3,
        "{}: this is not the file that comes with Isobar: wanted xxh3 {}, got {}; restore it, or set "
        "ISOBAR_DATA to a folder with a file of your own",
        path.string(), file.xxh3, found);
  return path;
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
