#include "bad_op.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace isobar {
namespace {

using Op = TapeTrace::Op;
using Input = TapeTrace::Input;
using Visit = TapeTrace::Visit;

// An undefined tensor: a single number, without a value.
bool is_absent(const ValueRange& range) {
  return range.shape.ndim() == 0 && std::isnan(range.least) && range.finite();
}

// "input 0 [4, 16] from -1 to 2, input 1 [8, 16] from 0 to 0.5"; absent ones are left out.
std::string inputs_text(const std::vector<ValueRange>& inputs) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!is_absent(inputs[i])) texts.push_back(fmt::format("input {} {}", i, inputs[i].text()));
  return fmt::format("{}", fmt::join(texts, ", "));
}

const ValueRange& range_of(const TapeTrace& trace, const Input& input) { return trace.value_of(input).range; }

// What is known of an op, whatever is wrong with it.
BadOp at(const TapeTrace& trace, size_t number, BadOp::Way way) {
  const std::vector<Op>& ops = trace.ops();
  const Op& op = ops[number];
  BadOp bad{.way = way, .op = op.name, .module = op.module, .result = op.value.range, .values = op.bad};
  std::set<uint64_t> tapes;
  for (size_t i = 0; i < number; ++i) {
    bad.number += ops[i].tape == op.tape;
    if (ops[i].tape != op.tape) tapes.insert(ops[i].tape);
  }
  bad.tape = static_cast<int64_t>(tapes.size());
  for (const Input& input : op.inputs) bad.inputs.push_back(range_of(trace, input));
  return bad;
}

// How many results and gradients are not finite after a step of the trace, or from it on.
int64_t bad_steps(const TapeTrace& trace, bool backward, size_t number, bool itself) {
  const std::vector<TapeTrace::Step>& steps = trace.steps();
  auto step = std::find_if(steps.begin(), steps.end(), [&](const TapeTrace::Step& of) {
    return of.backward == backward && of.number == number;
  });
  if (step != steps.end() && !itself) ++step;
  return std::count_if(step, steps.end(), [&](const TapeTrace::Step& of) {
    if (!of.backward) return !trace.ops()[of.number].value.range.finite();
    const auto& dx = trace.visits()[of.number].dx;
    return std::any_of(dx.begin(), dx.end(), [](const auto& x) { return x && !x->range.finite(); });
  });
}

// Where a search ends: at the op that made what is not finite, or that got it as an input which no op made.
struct Producer {
  size_t op;
  const Input* input = nullptr;
  std::optional<size_t> turned_nan = std::nullopt;
};

// Back from an op whose result or input is not finite. NaN is followed first; an infinity among the inputs of
// the op that made the NaN is followed next, but for one that only constants hold.
Producer walk_back(const TapeTrace& trace, size_t number) {
  std::optional<size_t> turned_nan;
  for (;;) {
    const Op& op = trace.ops()[number];
    const auto first_with = [&](const auto& wanted) {
      const auto found = std::find_if(op.inputs.begin(), op.inputs.end(), wanted);
      return found != op.inputs.end() ? &*found : nullptr;
    };
    const Input* next = first_with([&](const Input& x) { return range_of(trace, x).nans > 0; });
    if (next == nullptr) {
      if (!turned_nan && op.value.range.nans > 0) turned_nan = number;
      next = first_with([&](const Input& x) {
        const bool constant = x.kind == Input::Kind::source && trace.sources()[x.number].constant;
        return range_of(trace, x).infinities > 0 && !constant;
      });
    }
    if (next == nullptr) {
      next = first_with([&](const Input& x) { return !range_of(trace, x).finite(); });
      if (next == nullptr) return {number, nullptr, turned_nan};
      if (turned_nan) return {*turned_nan};
    }
    if (next->kind != Input::Kind::op) return {number, next, turned_nan};
    number = next->number;
  }
}

BadOp producer_of(const TapeTrace& trace, size_t number) {
  const std::vector<Op>& ops = trace.ops();
  const Producer found = walk_back(trace, number);
  BadOp bad = at(trace, found.op, found.input != nullptr ? BadOp::Way::input : BadOp::Way::forward);
  bad.passed_on = bad_steps(trace, false, found.op, false);
  if (found.turned_nan && *found.turned_nan != found.op) bad.turned_nan = ops[*found.turned_nan].place();
  if (found.input == nullptr) return bad;
  const Tensor& tensor = trace.sources()[found.input->number].tensor;
  bad.input = found.input - ops[found.op].inputs.data();
  bad.result = range_of(trace, *found.input);
  if (!bad.values.defined()) bad.values = tensor.detach(), bad.values_of = bad.input;
  if (tensor.trainable()) bad.leaf = tensor;
  return bad;
}

BadOp maker_of(const TapeTrace& trace, const TapeTrace::BadGradient& gradient) {
  const Visit& visit = trace.visits()[gradient.visit];
  const Op& op = trace.ops()[visit.op];
  const bool is_sum = gradient.input < 0;
  const std::vector<Input>& inputs = op.inputs;
  const bool finite =
      op.value.range.finite() &&
      std::all_of(inputs.begin(), inputs.end(), [&](const Input& x) { return range_of(trace, x).finite(); });
  if (!is_sum && !finite) return producer_of(trace, visit.op);
  BadOp bad = at(trace, visit.op, is_sum ? BadOp::Way::sum : BadOp::Way::backward);
  if (!is_sum) bad.dy = visit.dy.range;
  bad.input = bad.values_of = gradient.input;
  bad.result = range_of(gradient.values);
  bad.values = gradient.values;
  bad.passed_on = bad_steps(trace, true, gradient.visit, is_sum);
  return bad;
}

}  // namespace

std::string BadOp::place() const {
  const bool backwards = way != Way::forward && way != Way::input;
  return fmt::format("{} of {}", backwards ? "backward" : "forward", place_of(op, module));
}

std::string BadOp::text(const std::string& leaf_name) const {
  std::string text = place();
  if (way == Way::forward)
    text += fmt::format(" made {} out of {}", result.bad_text("its result"), inputs_text(inputs));
  if (way == Way::input) {
    const std::string who =
        leaf.defined() ? "the parameter" + (leaf_name.empty() ? "" : " " + leaf_name) : "a constant or data";
    text += fmt::format(" got {}, {}: it was not finite before",
                        result.bad_text(fmt::format("input {}", input)), who);
  }
  if (way == Way::backward)
    text += fmt::format(" made {} out of dy {}, {}",
                        result.bad_text(fmt::format("the gradient of input {}", input)), dy->text(),
                        inputs_text(inputs));
  if (way == Way::sum)
    text += fmt::format(": the gradients of all uses of its result are finite, their sum holds {}",
                        result.bad_text("dy"));
  if (way == Way::given) text += fmt::format(" was given {}", result.bad_text("dy"));
  if (!turned_nan.empty()) text += fmt::format("; {} made NaN of it", turned_nan);
  if (passed_on > 0)
    text += fmt::format("; passed on to {} result{} or gradient{}", passed_on, passed_on == 1 ? "" : "s",
                        passed_on == 1 ? "" : "s");
  return text;
}

std::optional<BadOp> first_bad_op(const TapeTrace& trace) {
  const std::vector<Op>& ops = trace.ops();
  const std::optional<TapeTrace::BadGradient>& gradient = trace.bad_gradient();
  const size_t visits = gradient ? gradient->visit + 1 : trace.visits().size();
  std::set<size_t> reached;  // ops that are inputs of those visited so far: others are a walk's loss
  for (size_t i = 0; i < visits; ++i) {
    const size_t number = trace.visits()[i].op;
    const Op& op = ops[number];
    if (!reached.contains(number) && !op.value.range.finite()) return producer_of(trace, number);
    for (const Input& input : op.inputs)
      if (input.kind == Input::Kind::op) reached.insert(input.number);
  }
  if (gradient) {
    BadOp bad = maker_of(trace, *gradient);
    if (bad.way == BadOp::Way::sum && !reached.contains(trace.visits()[gradient->visit].op))
      bad.way = BadOp::Way::given;
    return bad;
  }
  const bool forward_alone = !trace.steps().empty() && !trace.steps().back().backward;
  if (forward_alone && !ops.back().value.range.finite()) return producer_of(trace, ops.size() - 1);
  return std::nullopt;
}

std::optional<Shape> shape_in(const TapeTrace& trace, const BadOp& bad) {
  if (bad.number >= trace.ops().size()) return std::nullopt;
  const Op& op = trace.ops()[bad.number];
  if (bad.op != op.name || bad.module != op.module || bad.inputs.size() != op.inputs.size())
    return std::nullopt;
  return bad.values_of >= 0 ? trace.value_of(op.inputs[static_cast<size_t>(bad.values_of)]).range.shape
                            : op.value.range.shape;
}

}  // namespace isobar
