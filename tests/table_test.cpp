#include <doctest/doctest.h>

#include <cmath>

#include "../core/error.h"
#include "../experiments/harness/table.h"

using namespace isobar;

TEST_CASE("a table aligns numbers right and text left, counting code points") {
  Table table({"läyer", "std"});
  table.row({"ä", "0.5"});
  table.row({"output", "1e-37"});
  CHECK(table.text() ==
        "läyer     std\n"
        "──────  ─────\n"
        "ä         0.5\n"
        "output  1e-37\n");
  CHECK_THROWS_AS(table.row({"one"}), Error);
  CHECK(number_text(6.24e-37) == "6.24e-37");
  CHECK(number_text(INFINITY) == "inf");
}
