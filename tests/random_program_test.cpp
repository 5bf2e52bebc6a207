// Random programs of ops, views, pieces that are computed again and nested tapes: every gradient is a slope.
//
//   REPLAY=17 isobar_tests -tc='*random program*'      one of them, printed as C++
//   ISOBAR_RANDOM_PROGRAMS=20000 isobar_tests -tc='*random program*'  more of them
#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

#include "random_programs/program.h"
#include "replay.h"
#include "run.h"

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

// A value for each op of the table, each piece, and the wrong op in a piece that is computed again.
Program one_of_each() {
  Program program{.seed = 7};
  program.leaves = {{{3, 4}, true}, {{4}, true},       {{4, 4}, true},
                    {{}, false},    {{2, 1, 3}, true}, {{3, 4}, true}};
  constexpr int cube = 4, other = 5;
  int value = 6;
  const auto op = [&](const Op& row, std::vector<int> arguments, Numbers numbers) {
    arguments.resize(row.arguments, arguments.back());
    return Instruction{.value = value++, .op = &row, .arguments = arguments, .numbers = numbers};
  };
  const std::map<std::string, Numbers> numbers{{"reshape", {2, 6}},
                                               {"permute", {1, 0}},
                                               {"broadcast_to", {2, 3, 4}},
                                               {"slice", {1, 1, 3}},
                                               {"sum", {0}},
                                               {"mean", {1}},
                                               {"max", {1}},
                                               {"var", {0}},
                                               {"layer_norm", {4}},
                                               {"index_select", {2, 0}},
                                               {"rms_norm", {4}},
                                               {"expand", {2, -1, 4}},
                                               {"split", {1}},
                                               {"pad", {-1, 2}},
                                               {"flip", {1}},
                                               {"tril", {-1}},
                                               {"triu", {1}},
                                               {"embedding", {2, 0, 2}},
                                               {"index_add", {1, 1, 0}},
                                               {"gather", {11, 3, 3}},
                                               {"scatter_add", {5, 0, 5}},
                                               {"min", {0}},
                                               {"cumsum", {1}},
                                               {"logsumexp", {0}},
                                               {"norm", {1}},
                                               {"std_dev", {1}},
                                               {"cross_entropy", {3, 0, 1}}};
  const std::map<std::string, std::vector<int>> arguments{{"linear with bias", {0, 2, 1}},
                                                          {"matmul", {0, 2}},
                                                          {"linear", {0, 2}},
                                                          {"rms_norm", {0, 1}},
                                                          {"multiply", {0, 1}},
                                                          {"minimum", {0, 1}},
                                                          {"maximum", {0, 1}},
                                                          {"where", {0, 1, 3}},
                                                          {"where above", {0, 1}},
                                                          {"einsum", {0, 2}},
                                                          {"einsum of one", {cube}},
                                                          {"l1_loss", {0, other}}};
  for (const Op& row : ops()) {
    const auto n = numbers.find(row.name);
    const auto a = arguments.find(row.name);
    program.code.push_back(op(row, a != arguments.end() ? a->second : std::vector{0},
                              n != numbers.end() ? n->second : Numbers{}));
    program.losses.push_back(program.code.back().value);
  }
  for (const Kind kind : {Kind::recomputed, Kind::paused, Kind::nested}) {
    Instruction piece{.value = value++, .kind = kind, .arguments = {0}, .inner = value++};
    piece.body = {op(kind == Kind::recomputed ? wrong_op() : op_named("tanh"), {piece.inner}, {})};
    program.code.push_back(piece);
    program.code.push_back(op(op_named("multiply"), {0, piece.value}, {}));
    program.losses.push_back(program.code.back().value);
  }
  program.values = value;
  return program;
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

// printed_program.cpp is built like any program, which shows that what is printed compiles.
TEST_CASE("a program prints as C++ that compiles and finds the wrong op") {
  const Program program = one_of_each();
  CHECK(cpp_text(program) == file_text(ISOBAR_SOURCE_DIR "/tests/random_programs/printed/program.cpp"));
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
