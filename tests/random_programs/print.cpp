// A random program as a listing.
#include <fmt/ranges.h>

#include "program.h"

namespace isobar::random_programs {

std::string lines_of(const std::vector<Instruction>& code, const std::string& indent) {
  std::string text;
  for (const Instruction& one : code) {
    text += fmt::format("{}v{} = ", indent, one.value);
    if (one.kind == Kind::op) {
      text += fmt::format("{}(v{}) {}\n", one.op->name, fmt::join(one.arguments, ", v"), one.numbers);
      continue;
    }
    const char* const kind =
        one.kind == Kind::paused ? "under NoTape" : "gradient on a tape of its own, of Σ result + Σ v";
    text += fmt::format("{}, of v{} as v{}:\n", kind, one.arguments[0], one.inner);
    text += lines_of(one.body, indent + "  ");
  }
  return text;
}

std::string text_of(const Program& program) {
  std::string text =
      fmt::format("program {}{}\n", program.seed, program.higher_order ? ", higher order" : "");
  for (size_t i = 0; i < program.leaves.size(); ++i)
    text += fmt::format("v{} = leaf {}{}\n", i, program.leaves[i].shape.text(),
                        program.leaves[i].trainable ? ", trainable" : "");
  return text + lines_of(program.code, "") + fmt::format("losses v{}\n", fmt::join(program.losses, ", v"));
}

}  // namespace isobar::random_programs
