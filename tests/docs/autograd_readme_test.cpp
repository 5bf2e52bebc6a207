// Code in autograd/README.md is real: each block names a file in its first line and is there word for
// word.
#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <sstream>

namespace isobar::autograd_readme_test {

// The file's text without indentation: a block inside a list is indented.
std::string lines_of(const std::string& text) {
  return std::regex_replace(text, std::regex("(^|\n)[ ]+"), "$1");
}

std::string read(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(ISOBAR_SOURCE_DIR "/" + path).rdbuf();
  return text.str();
}

TEST_CASE("the code in autograd/README.md is in the files that it names") {
  const std::string readme = lines_of(read("autograd/README.md"));
  const std::regex block("```cpp\n// ([^\n ]+)\n([^`]+)```");
  int blocks = 0;
  for (std::sregex_iterator match(readme.begin(), readme.end(), block), end; match != end;
       ++match, ++blocks) {
    const std::string file = (*match)[1], code = (*match)[2];
    CAPTURE(file);
    CAPTURE(code);
    CHECK(lines_of(read(file)).find(code) != std::string::npos);
  }
  CHECK(blocks == 6);
}

}  // namespace isobar::autograd_readme_test
