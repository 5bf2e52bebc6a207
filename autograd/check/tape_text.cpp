#include "tape_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace isobar {
namespace {

using Input = TapeTrace::Input;

std::string bytes_text(const ValueRange& range) {
  const size_t bytes = static_cast<size_t>(range.shape.numel()) * size_of(range.dtype);
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(bytes) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1024 / 1024);
}

// Slot 3 on the tape of this op: "%3", of several tapes "%2.3" for the second.
std::string slot_text(const TapeTrace& trace, const TapeTrace::Op& op, int64_t slot) {
  if (trace.tapes().size() < 2) return fmt::format("%{}", slot);
  const auto tape = std::find(trace.tapes().begin(), trace.tapes().end(), op.tape);
  return fmt::format("%{}.{}", tape - trace.tapes().begin() + 1, slot);
}

// "%3 [2, 4]", "constant [2, 4]", or "none" for an undefined tensor.
std::string input_text(const TapeTrace& trace, const TapeTrace::Op& op, const Input& input) {
  if (input.kind == Input::Kind::absent) return "none";
  const Shape& shape = trace.value_of(input).range.shape;
  return fmt::format("{} {}", input.slot < 0 ? "constant" : slot_text(trace, op, input.slot), shape);
}

std::string line_of(const TapeTrace& trace, const TapeTrace::Op& op, const std::string& text) {
  return fmt::format("  {:>5}  {:<14} {}{}\n", slot_text(trace, op, op.slot), op.name, text,
                     op.module.empty() ? "" : fmt::format(", in {}", op.module));
}

std::string forward_text(const TapeTrace& trace, const TapeTrace::Op& op) {
  std::vector<std::string> inputs;
  for (const Input& input : op.inputs) inputs.push_back(input_text(trace, op, input));
  const ValueRange& y = op.value.range;
  return fmt::format("({}) -> {} {}, {}, norm {:.4g}", fmt::join(inputs, ", "), y.shape, y.dtype,
                     bytes_text(y), op.value.norm);
}

std::string backward_text(const TapeTrace& trace, const TapeTrace::Op& op, const TapeTrace::Visit& visit) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < visit.dx.size(); ++i)
    if (op.inputs[i].slot >= 0)
      texts.push_back(fmt::format("{} {}", slot_text(trace, op, op.inputs[i].slot),
                                  visit.dx[i] ? fmt::format("norm {:.4g}", visit.dx[i]->norm) : "none"));
  return fmt::format("dy {}, norm {:.4g} -> {}", visit.dy.range.shape, visit.dy.norm, fmt::join(texts, ", "));
}

// Why a tensor has no gradient, or one of zeros.
std::string why_missing(const TapeTrace& trace, const Tensor& tensor) {
  if (!tensor.trainable()) return "it is frozen; set_trainable() makes it a parameter";
  const auto reads = [&](const Input& input) {
    if (input.kind != Input::Kind::source || input.slot < 0) return false;
    return trace.sources()[input.number].tensor.id() == tensor.id();
  };
  std::set<size_t> visited;
  for (const TapeTrace::Visit& visit : trace.visits())
    if (!visit.dx.empty()) visited.insert(visit.op);
  std::vector<size_t> uses;  // those that backward visited before the others
  for (size_t i = 0; i < trace.ops().size(); ++i)
    if (std::any_of(trace.ops()[i].inputs.begin(), trace.ops()[i].inputs.end(), reads)) uses.push_back(i);
  std::stable_partition(uses.begin(), uses.end(), [&](size_t op) { return visited.contains(op); });
  if (uses.empty())
    return "no recorded op used it: does forward leave it out, or read it through detach(), data() or to_vector()?";
  const TapeTrace::Op& op = trace.ops()[uses.front()];
  const std::string place = fmt::format("{} ({}){}", op.name, slot_text(trace, op, op.slot),
                                        op.module.empty() ? "" : " in " + op.module);
  if (!visited.contains(uses.front()))
    return fmt::format("{} used it, but the loss does not depend on the result: is that dropped or detached?",
                       place);
  if (tensor.grad().defined())
    return fmt::format("its gradient is zero: {} gave only zeros (a factor of zero, or units that are off)",
                       place);
  return fmt::format("the backward of {} returned none for it", place);
}

}  // namespace

std::string tape_text(const TapeTrace& trace) {
  std::string forward, backward;
  for (const TapeTrace::Step& step : trace.steps()) {
    const TapeTrace::Visit* const visit = step.backward ? &trace.visits()[step.number] : nullptr;
    const TapeTrace::Op& op = trace.ops()[visit != nullptr ? visit->op : step.number];
    if (visit != nullptr)
      backward += line_of(trace, op, backward_text(trace, op, *visit));
    else
      forward += line_of(trace, op, forward_text(trace, op));
  }
  return "forward\n" + forward + "backward\n" + backward;
}

std::string tape_dot(const TapeTrace& trace) {
  std::map<std::string, std::string> clusters;  // by module, "" outside of all
  std::map<size_t, std::string> leaves;         // by their numbers
  std::string edges;
  for (size_t i = 0; i < trace.ops().size(); ++i) {
    const TapeTrace::Op& op = trace.ops()[i];
    const ValueRange& y = op.value.range;
    clusters[op.module] +=
        fmt::format("    op{} [label={:?}];\n", i, fmt::format("{} {} {}", op.name, y.shape, bytes_text(y)));
    for (const Input& input : op.inputs) {
      if (input.slot < 0) continue;
      const bool is_leaf = input.kind == Input::Kind::source;
      if (is_leaf) leaves[input.number] = input_text(trace, op, input);
      edges += fmt::format("  {}{} -> op{};\n", is_leaf ? "leaf" : "op", input.number, i);
    }
  }
  std::string text = "digraph tape {\n  node [shape=box];\n";
  for (const auto& [number, label] : leaves)
    text += fmt::format("  leaf{} [shape=ellipse, label={:?}];\n", number, label);
  int number = 0;
  for (const auto& [module, lines] : clusters)
    text += module.empty()
                ? lines
                : fmt::format("  subgraph cluster_{} {{\n    label={:?};\n{}  }}\n", number++, module, lines);
  return text + edges + "}\n";
}

std::string missing_gradients(const TapeTrace& trace, const std::vector<NamedTensor>& parameters) {
  std::string text;
  for (const NamedTensor& parameter : parameters) {
    const Tensor gradient = parameter.tensor.grad();
    if (!gradient.defined() || norm_of(gradient) == 0)
      text += fmt::format("{} {}: no gradient: {}\n", parameter.name, parameter.tensor.shape(),
                          why_missing(trace, parameter.tensor));
  }
  return text;
}

}  // namespace isobar
