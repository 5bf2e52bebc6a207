// Error and check(): the text that reaches the user.
#include "../../core/error.h"

#include <doctest/doctest.h>

#include <memory>

namespace isobar::error_test {

TEST_CASE("check throws the formatted text when its condition is false, and only then") {
  CHECK_NOTHROW(check(true, "op: wanted {}", 1));
  CHECK_THROWS_WITH_AS(check(false, "op: wanted {} or {}, got '{}'", 1, 2.5, "x"),
                       "op: wanted 1 or 2.5, got 'x'", Error);
}

TEST_CASE("an error is a standard exception") {
  try {
    throw_error("op: wrong");
  } catch (const std::exception& error) {
    CHECK(std::string(error.what()) == "op: wrong");
    return;
  }
  FAIL("nothing was thrown");
}

TEST_CASE("the innermost module that knows its path is named, once") {
  Error error("linear: wrong");
  error.locate("");  // a module without a path says nothing and leaves room for one that has a path
  CHECK(std::string(error.what()) == "linear: wrong");
  error.locate("blocks.3.fc1");
  CHECK(std::string(error.what()) == "in blocks.3.fc1: linear: wrong");
  error.locate("blocks.3");
  CHECK(std::string(error.what()) == "in blocks.3.fc1: linear: wrong");
}

TEST_CASE("a copied error keeps its text when the original is gone") {
  auto original = std::make_unique<Error>("op: wrong");
  original->locate("head");
  const Error copy = *original;
  original.reset();
  CHECK(std::string(copy.what()) == "in head: op: wrong");
}

}  // namespace isobar::error_test
