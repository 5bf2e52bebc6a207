// Random programs of ops, views, pieces that are computed again and nested tapes: every gradient is a slope.
//
//   REPLAY=17 isobar_tests -tc='*random program*'      one of them, with its listing
//   ISOBAR_RANDOM_PROGRAMS=20000 isobar_tests -tc='*random program*'  more of them
#include <doctest/doctest.h>

#include <set>

#include "../random_programs/program.h"
#include "../replay.h"

namespace isobar::random_programs {

void check_program(const Program& program) {
  const std::string wrong = failure_of(program);
  if (wrong.empty()) return;
  CAPTURE(wrong);
  FAIL_CHECK("REPLAY=", program.seed, "\n", text_of(program));
}

TEST_CASE("every gradient of a random program is the slope that differences give") {
  if (const std::optional<uint64_t> seed = replayed_seed()) {
    MESSAGE(text_of(make_program(*seed)));
    check_program(make_program(*seed));
    return;
  }
  const char* const wanted = std::getenv("ISOBAR_RANDOM_PROGRAMS");
  const uint64_t count = wanted != nullptr ? std::stoull(wanted) : 400;
  sharpness() = {};
  std::set<const Op*> unused;
  for (const Op& op : ops()) unused.insert(&op);
  for (uint64_t seed = 1; seed <= count; ++seed) {
    const Program program = make_program(seed);
    check_program(program);
    std::erase_if(unused, [&](const Op* op) { return holds_op(program.code, *op); });
  }
  CHECK(unused.empty());
  // Kinks of relu and max are near now and then; otherwise differences are sharp.
  CAPTURE(sharpness().compared);
  CHECK(sharpness().blunt * 50 < sharpness().compared);
}

TEST_CASE("a wrong gradient in a random program is found") {
  int found = 0;
  for (uint64_t seed = 1; found < 3; ++seed) {
    REQUIRE(seed < 50);
    const Program program = make_program(seed, true);
    found += holds_op(program.code, wrong_op()) && !failure_of(program).empty();
  }
}

}  // namespace isobar::random_programs
