#include <doctest/doctest.h>

#include "../../experiments/harness/lists.h"

namespace isobar::nearest_test {

TEST_CASE("the nearest name is found by edit distance, and a far one is not offered") {
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(did_you_mean("widht", std::vector<std::string>{"depth", "width"}) == "; did you mean width?");
  CHECK(did_you_mean("zzzzz", std::vector<std::string>{"depth", "width"}) == "");
}

}  // namespace isobar::nearest_test
