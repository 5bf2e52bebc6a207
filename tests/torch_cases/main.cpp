// torch_cases: what the ops of random programs give, for torch_cases.py to compare with PyTorch.
//
//   torch_cases FIRST COUNT      programs FIRST, FIRST + 1, …; a line of JSON for each op in them:
//
//   {"seed": 17, "op": "pad", "numbers": [1, 2], "inputs": [ARRAY, …], "y": ARRAY, "y32": ARRAY,
//    "dy": ARRAY, "dx": [ARRAY, …]}
//
// An ARRAY is {"shape": [3], "values": [0.5, 1, 2]}. The inputs are f64, of any layout; y32 is y of the same
// inputs rounded to f32, and dx are the gradients of Σ dy · y.
#include <nlohmann/json.hpp>

#include "../../autograd/tape.h"
#include "../random_programs/program.h"

namespace isobar::random_programs {

using Json = nlohmann::json;

Json json_of(const Tensor& x) {
  return {{"shape", std::vector<int64_t>(x.shape().begin(), x.shape().end())},
          {"values", x.to_vector<double>()}};
}
Json json_of(const std::vector<Tensor>& xs) {
  Json list = Json::array();
  for (const Tensor& x : xs) list.push_back(json_of(x));
  return list;
}

void print_case(const Program& program, const Instruction& one, const std::vector<Tensor>& values) {
  std::vector<Tensor> inputs, narrow;
  for (const int argument : one.arguments) {
    inputs.push_back(values[argument].detach().set_trainable());
    narrow.push_back(raw::cast(inputs.back(), Dtype::f32));
  }
  Tape tape;
  const Tensor y = one.op->run(inputs, one.numbers);
  const Tensor dy =
      Rng(program.seed).split(static_cast<uint64_t>(one.value)).normal(y.shape(), 0, 1, Dtype::f64);
  const Json line{{"seed", program.seed},   {"op", one.op->name},
                  {"numbers", one.numbers}, {"inputs", json_of(inputs)},
                  {"y", json_of(y)},        {"y32", json_of(one.op->run(narrow, one.numbers))},
                  {"dy", json_of(dy)},      {"dx", json_of(tape.gradient(y, inputs, dy))}};
  fmt::print("{}\n", line.dump());
}

void print_cases(uint64_t seed) {
  const Program program = make_program(seed);
  std::map<int, Tensor> constants;
  std::vector<Tensor> leaves;
  for (size_t i = 0; i < program.leaves.size(); ++i) leaves.push_back(leaf_value(program, i));
  const std::vector<Tensor> values = execute(leaves, {program, constants});
  for (const Instruction& one : program.code)
    if (one.kind == Kind::op) print_case(program, one, values);
}

}  // namespace isobar::random_programs

int main(int count, char** words) {
  if (count != 3) return 2;
  const uint64_t first = std::stoull(words[1]), end = first + std::stoull(words[2]);
  for (uint64_t seed = first; seed < end; ++seed) isobar::random_programs::print_cases(seed);
}
