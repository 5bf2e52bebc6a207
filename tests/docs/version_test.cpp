// One version: CMakeLists.txt, CHANGELOG.md, CITATION.cff and the programs name the same.
#include <doctest/doctest.h>

#include <regex>

#include "../run.h"

namespace isobar::version_test {

// The first part in parentheses of the first place in a file of the repository where the pattern matches.
std::string first_match(const std::string& file, const std::string& pattern) {
  const std::string text = file_text(ISOBAR_SOURCE_DIR "/" + file);
  std::smatch found;
  REQUIRE_MESSAGE(std::regex_search(text, found, std::regex(pattern)), file, " has nothing like ", pattern);
  return found[1];
}

TEST_CASE("CMake, the changelog, the citation and the programs agree on the version") {
  const std::string version = first_match("CMakeLists.txt", "project\\(isobar VERSION ([0-9.]+) ");
  CHECK(first_match("CHANGELOG.md", "\n## \\[([0-9][^\\]]*)\\]") == version);
  CHECK(first_match("CITATION.cff", "\nversion: ([^\n]*)") == version);
  CHECK(holds(run_built("decay_study", "--version").out, version));
  // Packages that ask for this one ask for its minor version.
  for (const char* file : {"tests/packaging/find_package/CMakeLists.txt",
                           "tests/packaging/data/CMakeLists.txt", "experiments/course/kit/CMakeLists.txt"})
    CHECK(version.starts_with(first_match(file, "find_package\\(isobar ([0-9.]+) ") + "."));
  // The day of the release, too.
  CHECK(first_match("CHANGELOG.md", "\n## \\[[^\\]]*\\] - ([0-9-]+)\n") ==
        first_match("CITATION.cff", "\ndate-released: \"([0-9-]+)\""));
}

TEST_CASE("the citation names the holders and the licence of LICENSE") {
  const std::string authors = first_match("CITATION.cff", "\nauthors:\n  - name: ([^\n]*)");
  CHECK(first_match("LICENSE", "Copyright \\(c\\) [0-9]+ ([^\n]*)") == authors);
  CHECK(first_match("LICENSE", "^(\\w+) License\n") == first_match("CITATION.cff", "\nlicense: ([^\n]*)"));
}

}  // namespace isobar::version_test
