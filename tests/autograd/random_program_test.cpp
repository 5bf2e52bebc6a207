// Random programs of ops, views, pieces that are computed again and nested tapes: every gradient is a slope.
//
//   REPLAY=17 isobar_tests -tc='*random program*'      one of them, printed as C++
//   ISOBAR_RANDOM_PROGRAMS=20000 isobar_tests -tc='*random program*'  more of them
#include <doctest/doctest.h>

#include <set>

#include "../random_programs/program.h"
#include "../replay.h"
#include "../run.h"

namespace isobar::random_programs {

void check_seed(uint64_t seed) {
  const Program program = make_program(seed);
  const std::string wrong = failure_of(program);
  if (wrong.empty()) return;
  CAPTURE(wrong);
  FAIL_CHECK("REPLAY=", seed, "\n", cpp_text(shrunk(program)));
}

bool holds_wrong_op(const std::vector<Instruction>& code) {
  for (const Instruction& instruction : code)
    if (instruction.op == &wrong_op() || holds_wrong_op(instruction.body)) return true;
  return false;
}

void collect_ops(const std::vector<Instruction>& code, std::set<const Op*>& used) {
  for (const Instruction& instruction : code) {
    if (instruction.op != nullptr) used.insert(instruction.op);
    collect_ops(instruction.body, used);
  }
}

TEST_CASE("every gradient of a random program is the slope that differences give") {
  if (const std::optional<uint64_t> seed = replayed_seed()) {
    MESSAGE(cpp_text(make_program(*seed)));
    check_seed(*seed);
    return;
  }
  const char* const wanted = std::getenv("ISOBAR_RANDOM_PROGRAMS");
  const uint64_t count = wanted != nullptr ? std::stoull(wanted) : 1000;
  sharpness() = {};
  std::set<const Op*> used;
  for (uint64_t seed = 1; seed <= count; ++seed) {
    check_seed(seed);
    collect_ops(make_program(seed).code, used);
  }
  CHECK(used.size() == ops().size());
  // Kinks of relu and max are near now and then; otherwise differences are sharp.
  CAPTURE(sharpness().compared);
  CHECK(sharpness().blunt * 50 < sharpness().compared);
}

TEST_CASE("a wrong gradient in a random program is found, and shrunk to the wrong op") {
  int found = 0;
  for (uint64_t seed = 1; found < 3; ++seed) {
    REQUIRE(seed < 50);
    const Program program = make_program(seed, true);
    if (!holds_wrong_op(program.code) || failure_of(program).empty()) continue;
    ++found;
    const Program small = shrunk(program);
    CAPTURE(cpp_text(small));
    CHECK(holds_wrong_op(small.code));
    CHECK(small.code.size() <= 3);
  }
}

// printed/main.cpp prints it, and the build compiles what is printed.
TEST_CASE("a program prints as C++ that compiles and finds the wrong op") {
  const Program program = one_of_each();
  const Outcome outcome = run_built("printed_program", "");
  CHECK(outcome.code == 1);
  CAPTURE(outcome.out);
  // Leaf 0 alone goes through the wrong op.
  CHECK(outcome.out.find("leaf 0 element 0: gradient ") == 0);
  CHECK(holds(outcome.out, "WRONG"));
  CHECK(outcome.out.find("WRONG", outcome.out.find("leaf 1")) == std::string::npos);
  CHECK_FALSE(holds(outcome.out, "leaf 3"));
  const std::string wrong = failure_of(program);
  CAPTURE(wrong);
  CHECK(wrong.starts_with("leaf 0 "));
}

}  // namespace isobar::random_programs
