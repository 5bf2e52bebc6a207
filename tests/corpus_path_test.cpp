#include "../data/corpus_path.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>

#include "scoped_variable.h"
#include "temporary_folder.h"

using namespace isobar;

TEST_CASE("Tiny Shakespeare is looked for in the data folder, then in the cache, then in the home's cache") {
  const TemporaryFolder folder;
  const std::string at = folder.path().string();
  const ScopedVariable data("ISOBAR_DATA", at + "/data"), cache("XDG_CACHE_HOME", at + "/cache"),
      home("HOME", at + "/home");
  CHECK(find_tiny_shakespeare().empty());

  const auto in_home = folder.write("home/.cache/isobar/tinyshakespeare.txt", "x");
  CHECK(find_tiny_shakespeare().empty());  // XDG_CACHE_HOME stands in for $HOME/.cache
  {
    const ScopedVariable unset("XDG_CACHE_HOME", std::nullopt);
    CHECK(find_tiny_shakespeare() == in_home);
  }
  {
    const ScopedVariable relative("XDG_CACHE_HOME", "somewhere");
    CHECK(find_tiny_shakespeare() == in_home);
  }
  const auto in_cache = folder.write("cache/isobar/tinyshakespeare.txt", "x");
  CHECK(find_tiny_shakespeare() == in_cache);
  const auto in_data = folder.write("data/tinyshakespeare.txt", "x");
  CHECK(find_tiny_shakespeare() == in_data);
}

TEST_CASE("Tiny Shakespeare is nowhere when no variable names a folder") {
  const ScopedVariable data("ISOBAR_DATA", std::nullopt), cache("XDG_CACHE_HOME", std::nullopt),
      home("HOME", std::nullopt);
  CHECK(find_tiny_shakespeare().empty());
}
