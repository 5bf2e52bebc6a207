// A value for each op of the table, each piece, and the wrong op in a piece that is computed again.
#include "program.h"

namespace isobar::random_programs {

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

}  // namespace isobar::random_programs
