// A random autograd program as data: leaves, instructions in order, and which values are losses.
//
//   const Program program = make_program(17);        // the same program for the same seed
//   const std::string wrong = failure_of(program);   // "" where every gradient is the slope
//   if (!wrong.empty()) fmt::print("{}", text_of(program));
//
// Every value has a number: the leaves the first ones, then each instruction's result and each argument of a
// body. Everything is f64.
#pragma once

#include <functional>
#include <map>

#include "../../core/rng.h"

namespace isobar::random_programs {

using Numbers = std::vector<int64_t>;

// One way to compute a value. `choose` picks the numbers for given arguments, and returns false where the op
// does not take these.
struct Op {
  const char* name;
  size_t arguments;
  std::function<Tensor(const std::vector<Tensor>&, const Numbers&)> run;
  std::function<bool(const std::vector<Tensor>&, const std::function<int64_t(int64_t)>& draw, Numbers&)>
      choose = nullptr;
};
const std::vector<Op>& ops();
const Op& op_named(std::string_view name);
// Its closure returns 3 dy where 2 dy is right. No program holds it unless a test asks for it.
const Op& wrong_op();

enum class Kind {
  op,
  paused,  // body(v) under NoTape: a constant
  nested,  // the gradient of Σ body(v) + Σ v by v, taken on a tape of its own: a constant
};

struct Instruction {
  int value;
  Kind kind = Kind::op;
  const Op* op = nullptr;
  std::vector<int> arguments = {};  // of an op; of a piece the one that its body is called with
  Numbers numbers = {};
  int inner = -1;  // the number of that argument within the body
  std::vector<Instruction> body = {};
};

struct LeafRow {
  Shape shape;
  bool trainable;
};

struct Program {
  uint64_t seed = 0;
  std::vector<LeafRow> leaves = {};
  std::vector<Instruction> code = {};
  std::vector<int> losses = {};  // values; each is summed with random weights, and walked back in this order
  int values = 0;                // numbers given out
  bool higher_order = false;
};

// Planted: the wrong op is drawn like any other.
Program make_program(uint64_t seed, bool planted = false);
Tensor leaf_value(const Program& program, size_t leaf);

// One run. Constants are computed in the first run and read in later ones, so that differences see them as
// the tape does.
struct Run {
  const Program& program;
  std::map<int, Tensor>& constants;
  bool rounding = true;  // false: a cast to f32 and back is left out, since differences would see its steps
  int nudged = -1;       // the value to which `nudge` is added
  Tensor nudge = {};
};
// The values by number; undefined for those within bodies.
std::vector<Tensor> execute(const std::vector<Tensor>& leaves, const Run& run);
// Computes an instruction and enters its value.
void execute(const Instruction& instruction, std::vector<Tensor>& values, const Run& run);
// Σ weights · value, for the loss of this value.
Tensor loss_of(const Program& program, const std::vector<Tensor>& values, int value);

// What is wrong with the gradients, "leaf 2 element 3: gradient 1.5, difference 2", or "".
std::string failure_of(const Program& program);
// How many of the comparisons found no sharp difference, since a kink was near, and how many there were.
struct Sharpness {
  int64_t compared = 0, blunt = 0;
};
Sharpness& sharpness();

// A line for each leaf, instruction and loss.
std::string text_of(const Program& program);
// Whether an instruction, within others too, is one of this op.
bool holds_op(const std::vector<Instruction>& code, const Op& op);

}  // namespace isobar::random_programs
