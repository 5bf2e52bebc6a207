// A failing program made smaller while it fails.
#include <algorithm>
#include <set>

#include "program.h"

namespace isobar::random_programs {

void collect_reads(const std::vector<Instruction>& code, std::set<int>& reads) {
  for (const Instruction& instruction : code) {
    reads.insert(instruction.arguments.begin(), instruction.arguments.end());
    if (!instruction.body.empty()) reads.insert(instruction.body.back().value);
    collect_reads(instruction.body, reads);
  }
}

bool holds_op(const std::vector<Instruction>& code, const Op& op) {
  return std::any_of(code.begin(), code.end(), [&](const Instruction& instruction) {
    return instruction.op == &op || holds_op(instruction.body, op);
  });
}

// Without the instructions whose values nobody reads.
void drop_unread(std::vector<Instruction>& code, const Program& program) {
  for (size_t i = code.size(); i > 0; --i) {
    std::set<int> reads(program.losses.begin(), program.losses.end());
    collect_reads(program.code, reads);
    if (!reads.contains(code[i - 1].value))
      code.erase(code.begin() + static_cast<int64_t>(i) - 1);
    else
      drop_unread(code[i - 1].body, program);
  }
}

void rename(std::vector<Instruction>& code, int from, int to) {
  for (Instruction& instruction : code) {
    std::replace(instruction.arguments.begin(), instruction.arguments.end(), from, to);
    rename(instruction.body, from, to);
  }
}

// A body in the place of its piece.
void unwrap(Program& program, size_t i) {
  const Instruction piece = program.code[i];
  std::vector<Instruction> body = piece.body;
  rename(body, piece.inner, piece.arguments[0]);
  auto at = program.code.erase(program.code.begin() + static_cast<int64_t>(i));
  program.code.insert(at, body.begin(), body.end());
  rename(program.code, piece.value, body.back().value);
  std::replace(program.losses.begin(), program.losses.end(), piece.value, body.back().value);
}

// Programs that are smaller by one change.
std::vector<Program> smaller(const Program& program) {
  std::vector<Program> all;
  const auto add = [&](const auto& change) {
    Program next = program;
    change(next);
    drop_unread(next.code, next);
    if (!next.losses.empty()) all.push_back(next);
  };
  for (size_t i = 0; i < program.losses.size() && program.losses.size() > 1; ++i)
    add([&](Program& p) { p.losses = {program.losses[i]}; });
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Instruction& one = program.code[i];
    if (program.losses != std::vector{one.value}) add([&](Program& p) { p.losses = {one.value}; });
    if (one.kind != Kind::op) add([&](Program& p) { unwrap(p, i); });
    for (int argument : one.arguments)
      add([&](Program& p) {
        p.code.erase(p.code.begin() + static_cast<int64_t>(i));
        rename(p.code, one.value, argument);
        std::replace(p.losses.begin(), p.losses.end(), one.value, argument);
      });
  }
  return all;
}

// Shapes may no longer fit in a smaller program: that is another failure.
bool throws(const std::string& failure) { return failure.starts_with("throws"); }

size_t size_of(const std::vector<Instruction>& code) {
  size_t count = code.size();
  for (const Instruction& instruction : code) count += size_of(instruction.body);
  return count;
}

std::optional<Program> one_smaller(const Program& program) {
  const std::string failure = failure_of(program);
  for (const Program& next : smaller(program)) {
    if (size_of(next.code) >= size_of(program.code) && next.losses.size() >= program.losses.size()) continue;
    const std::string still = failure_of(next);
    if (!still.empty() && throws(still) == throws(failure)) return next;
  }
  return {};
}

Program shrunk(Program program) {
  while (const std::optional<Program> next = one_smaller(program)) program = *next;
  return program;
}

}  // namespace isobar::random_programs
