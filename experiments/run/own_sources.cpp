// isobar_sources() of programs that the build of this tree did not make. Those that it made have a function of this
// name of their own, by run/sources.cmake, and the linker leaves this one in the library.
#include <link.h>

#include "../../data/file.h"
#include "provenance.h"

namespace isobar {
namespace {

std::string checksum_of(const std::string& path) {
  const InputFile file(path);
  std::string block(size_t{1} << 20, '\0');
  uint64_t done = 0;
  return checksum([&] {
    const size_t count = std::min<uint64_t>(block.size(), file.size() - done);
    file.read(done, block.data(), count);
    done += count;
    return std::string_view(block).substr(0, count);
  });
}

// Adds the checksum of each of Isobar's libraries that the program has loaded.
int add_library(dl_phdr_info* loaded, size_t, void* checksums) {
  const std::string path = loaded->dlpi_name;
  if (path.find("/libisobar") != std::string::npos)
    *static_cast<std::string*>(checksums) += checksum_of(path);
  return 0;
}

}  // namespace

std::string isobar_sources() {
  static const std::string sources = [] {
    std::string checksums = checksum_of("/proc/self/exe");
    dl_iterate_phdr(add_library, &checksums);
    return checksum(checksums);
  }();
  return sources;
}

}  // namespace isobar
