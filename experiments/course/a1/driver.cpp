// Runs a program of ops on your tape. A program is (N, 3) of i64, one value a row: what it is, and the rows
// it is made of.
//   0 leaf x<a>   1 constant x<a>   2 a + b   3 a · b   4 sum of a   5 sin a   6 a · b, no gradient to b
#include "driver.h"

#include <algorithm>

#include <isobar/autograd/ops.h>

#include "a1.h"

namespace {

struct Program {
  Tape tape;
  std::vector<Var> vars;
  std::vector<double> calls;  // of each row's closure

  // `leaf` stands in the place of the request's leaves, where it is given.
  Program(const Request& in, const Tensor& code, const Tensor& leaf = {}) : calls(code.size(0), 0) {
    for (int64_t row = 0; row < code.size(0); ++row) {
      const int64_t op = code.at({row, 0}), a = code.at({row, 1}), b = code.at({row, 2});
      if (op == 0) vars.push_back(tape.leaf(raw::clone(leaf.defined() ? leaf : in["x" + std::to_string(a)])));
      if (op == 1) vars.push_back({raw::clone(in["x" + std::to_string(a)]), -1});
      if (op >= 2) vars.push_back(apply(row, op, vars[a], vars[b]));
    }
  }

  Var apply(int64_t row, int64_t op, const Var& a, const Var& b) {
    const Tensor x = raw::clone(a.value), z = raw::clone(b.value);
    const Tensor y = op == 2 ? x + z : op == 4 ? isobar::sum(x) : op == 5 ? isobar::sin(x) : x * z;
    const auto backward = [=, this](const Tensor& dy) -> std::vector<Tensor> {
      check(dy.dtype() == y.dtype(), "a closure was given a gradient in {}, of a value in {}",
            isobar::name_of(dy.dtype()), isobar::name_of(y.dtype()));
      calls[row] += 1;
      if (op == 2) return {dy, dy};  // both inputs get the very same tensor
      if (op == 4) return {isobar::full(x.shape(), dy.item(), Dtype::f64)};
      if (op == 5) return {dy * isobar::cos(x)};
      return {dy * z, op == 6 ? Tensor() : dy * x};
    };
    const std::vector<Var> inputs = op == 4 || op == 5 ? std::vector{a} : std::vector{a, b};
    return tape.record(y, inputs, backward);
  }
};

void record_only(const Request& in, Answer& out) {
  const Program program(in, in["code"]);
  std::vector<double> slots, inputs, leaves;
  for (const Var& var : program.vars) slots.push_back(var.slot);
  for (const Slot& slot : program.tape.slots) {
    inputs.push_back(-2);  // between the slots
    inputs.insert(inputs.end(), slot.inputs.begin(), slot.inputs.end());
    leaves.push_back(!slot.backward);
  }
  out("slots", slots)("inputs", inputs)("leaves", leaves);
  for (size_t i = 0; i < program.vars.size(); ++i) out("v" + std::to_string(i), program.vars[i].value);
}

// The slots of a walk, the largest first, and those that it names after one of their inputs: any order will
// do that keeps an op before its inputs.
void walked(const std::vector<Slot>& slots, int64_t start, const std::string& suffix, Answer& out) {
  std::vector<int64_t> order = walk(slots, start);
  std::vector<double> too_early;
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t j = 0; j < i && order.size() < 100; ++j)
      if (std::ranges::count(slots[order[i]].inputs, order[j])) too_early.push_back(order[i]);
  std::ranges::sort(order, std::greater<>());
  out("visited" + suffix, std::vector<double>(order.begin(), order.end()))("too_early" + suffix, too_early);
}

void walk_only(const Request& in, Answer& out) {
  // inputs: slots (N, 2), −1 for none. The tape is built here, not by task 1.
  std::vector<Slot> slots(in["inputs"].size(0));
  for (size_t i = 0; i < slots.size(); ++i)
    for (int64_t j = 0; j < 2; ++j)
      if (const int64_t input = in["inputs"].at({static_cast<int64_t>(i), j}); input >= -1)
        slots[i].inputs.push_back(input);
  walked(slots, in.integer("start"), "", out);
  if (in.has("then")) walked(slots, in.integer("then"), "_then", out);
}

void accumulate_only(const Request& in, Answer& out) {
  Tensor adjoint = in.has("adjoint") ? raw::clone(in["adjoint"]) : Tensor();
  const Tensor before = adjoint;
  for (const std::string name : {"dx0", "dx1", "dx2"}) {
    const Tensor dx = in.has(name) ? raw::clone(in[name]) : Tensor();
    accumulate(adjoint, dx);
    out(name, dx);
  }
  out("adjoint", adjoint)("before", before);
}

void gradients(const Request& in, Answer& out) {
  Program program(in, in["code"]);
  std::vector<Tensor> kept;  // gradients after the first backward
  const int64_t times = in.has("times") ? in.integer("times") : 1;
  for (int64_t i = 0; i < times; ++i) {
    if (in.has("clear") && i > 0) program.tape.clear_gradients();
    program.tape.backward(program.vars[in.integer("loss")]);
    if (in.has("keep") && i == 0)
      for (const Var& var : program.vars)
        kept.push_back(var.slot < 0 ? Tensor() : program.tape.gradient(var));
  }
  for (size_t row = 0; row < kept.size(); ++row) out("kept" + std::to_string(row), kept[row]);
  for (int64_t row = 0; row < in["code"].size(0); ++row)
    if (in["code"].at({row, 0}) == 0)
      out("d" + std::to_string(row), program.tape.gradient(program.vars[row]));
  for (size_t i = 0; i < program.vars.size(); ++i) out("v" + std::to_string(i), program.vars[i].value);
  out("calls", program.calls);
}

void gradient_of(const Request& in, Answer& out) {
  Program program(in, in["code"]);
  out("defined", program.tape.gradient(program.vars[in.integer("of")]).defined());
}

// One program on two tapes, of x0 and of y0: both are recorded before either is walked.
void two_tapes(const Request& in, Answer& out) {
  Program first(in, in["code"]);
  Program second(in, in["code"], in["y0"]);
  first.tape.backward(first.vars.back());
  second.tape.backward(second.vars.back());
  out("first", first.tape.gradient(first.vars[0]))("second", second.tape.gradient(second.vars[0]));
}

void other_tape(const Request& in, Answer&) {
  Program large(in, in["code"]);
  Tape empty;
  empty.backward(large.vars.back());
}

}  // namespace

int main() {
  return serve({{"record", record_only},
                {"walk", walk_only},
                {"accumulate", accumulate_only},
                {"gradients", gradients},
                {"gradient_of", gradient_of},
                {"two_tapes", two_tapes},
                {"other_tape", other_tape}});
}
