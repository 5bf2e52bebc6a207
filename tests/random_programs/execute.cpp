// A random program against the library.
#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "program.h"

namespace isobar::random_programs {

Tensor body_of(const Instruction& piece, std::vector<Tensor> values, const Tensor& argument, const Run& run) {
  values[piece.inner] = argument;
  for (const Instruction& instruction : piece.body) execute(instruction, values, run);
  return values[piece.body.back().value];
}

Tensor nested_gradient(const Instruction& piece, const std::vector<Tensor>& values, const Run& run) {
  const Tensor x = values[piece.arguments[0]].detach().set_trainable();
  Tape inner({.again = true});  // two of one program may draw with one key for one leaf
  return inner.gradient(sum(body_of(piece, values, x, run)) + sum(x), {x})[0];
}

Tensor value_of(const Instruction& instruction, const std::vector<Tensor>& values, const Run& run) {
  std::vector<Tensor> in;
  for (int value : instruction.arguments) in.push_back(values[value]);
  switch (instruction.kind) {
    case Kind::op:
      if (!run.rounding && instruction.op->name == std::string("rounded")) return in[0];
      return instruction.op->run(in, instruction.numbers);
    case Kind::paused: {
      const NoTape pause;
      return body_of(instruction, values, in[0], run);
    }
    case Kind::nested:
      return nested_gradient(instruction, values, run);
  }
  return {};
}

void execute(const Instruction& instruction, std::vector<Tensor>& values, const Run& run) {
  Tensor& value = values[instruction.value];
  if (instruction.kind == Kind::paused || instruction.kind == Kind::nested) {
    if (!run.constants.contains(instruction.value))
      run.constants[instruction.value] = value_of(instruction, values, run).detach();
    value = run.constants[instruction.value];
  } else {
    value = value_of(instruction, values, run);
  }
  if (instruction.value == run.nudged) value = value + run.nudge;
}

std::vector<Tensor> execute(const std::vector<Tensor>& leaves, const Run& run) {
  std::vector<Tensor> values = leaves;
  values.resize(run.program.values);
  for (const Instruction& instruction : run.program.code) execute(instruction, values, run);
  return values;
}

Tensor leaf_value(const Program& program, size_t leaf) {
  return Rng(program.seed).split("leaf").split(leaf).normal(program.leaves[leaf].shape, 0, 0.7, Dtype::f64);
}

Tensor loss_of(const Program& program, const std::vector<Tensor>& values, int value) {
  const Tensor& y = values[value];
  return sum(y * Rng(program.seed).split("weights").split(value).normal(y.shape(), 0, 1, Dtype::f64));
}

}  // namespace isobar::random_programs
