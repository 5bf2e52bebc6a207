// What check_layer says of the layers of the jury (tests/jury).
#include <doctest/doctest.h>

#include "../run.h"

namespace isobar::jury_test {

// The last row of the table that `jury` prints.
struct All {
  int bugs = 0, wrong = 0, right = 0, half = 0, misleading = 0, unknown = 0, missed = 0;
  int right_layers = 0, false_alarms = 0;
};

All all_of(const std::string& table) {
  All all;
  const size_t begin = table.rfind("\nall ");
  REQUIRE(begin != std::string::npos);
  std::istringstream numbers(table.substr(begin + 5));
  for (int All::*number : {&All::bugs, &All::wrong, &All::right, &All::half, &All::misleading, &All::unknown,
                           &All::missed, &All::right_layers, &All::false_alarms})
    numbers >> all.*number;
  REQUIRE(numbers);
  return all;
}

TEST_CASE("check_layer names the mistakes of the jury's wrong layers, and passes the right ones") {
  // Shares of the wrong layers, in percent. By names alone some counted rows mislead whose sentence a reader
  // finds right: tests/jury/README.md has what a reader made of each.
  struct Half {
    const char* name;
    int least, right, misleading;
  };
  for (const Half& half : {Half{"tuned", 40, 100, 0}, Half{"counted", 45, 75, 5}}) {
    CAPTURE(half.name);
    const Outcome jury = run_built("jury", std::string(half.name) + " --lines");
    INFO(jury.out, jury.err);
    const All all = all_of(jury.out);
    REQUIRE(all.bugs >= half.least);
    REQUIRE(all.right_layers >= 10);
    CHECK(all.wrong == all.bugs);
    CHECK(all.right * 100 >= half.right * all.bugs);
    CHECK(all.misleading * 100 <= half.misleading * all.bugs);
    CHECK(all.false_alarms == 0);
  }
}

TEST_CASE("check_layer sees wrong gradients on examples with an extent of 1, and of forwards in f32") {
  for (const char* const example : {"--extent-one", "--in-f32"}) {
    CAPTURE(example);
    const Outcome wrong = run_built("jury", std::string("tuned --lines --filter classics ") + example),
                  right = run_built("jury", std::string("tuned --lines --filter tricky ") + example);
    INFO(wrong.out, wrong.err, right.out, right.err);
    const All bugs = all_of(wrong.out), none = all_of(right.out);
    REQUIRE(bugs.bugs >= 20);
    CHECK(bugs.wrong == bugs.bugs);
    CHECK(bugs.right * 10 >= 9 * bugs.bugs);
    REQUIRE(none.right_layers >= 5);
    CHECK(none.false_alarms == 0);
  }
}

}  // namespace isobar::jury_test
