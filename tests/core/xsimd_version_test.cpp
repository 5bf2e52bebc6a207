// Which versions of xsimd the build accepts.
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::xsimd_version_test {

// What CMake says when it finds this version.
std::string configured_with(const std::string& version) {
  const TemporaryFolder folder;
  std::ofstream(folder / "xsimdConfig.cmake") << "";
  std::ofstream(folder / "xsimdConfigVersion.cmake") << "set(PACKAGE_VERSION " << version << ")\n";
  const std::string command = std::string("cmake -G Ninja -S ") + ISOBAR_SOURCE_DIR + " -B " +
                              (folder / "build") + " -Dxsimd_DIR=" + (folder / ".");
  const Outcome run = run_command(command);
  CHECK(run.code != 0);
  return run.err;
}

TEST_CASE("a version of xsimd that vmath.h does not fit is refused when the build is configured") {
  for (const std::string version : {"7.6.0", "12.0.0"}) {
    CAPTURE(version);
    const std::string text = configured_with(version);
    CAPTURE(text);
    CHECK(text.find("wanted xsimd 8 to 11, got " + version) != std::string::npos);
  }
}

}  // namespace isobar::xsimd_version_test
