#include "inspect.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace isobar {
namespace {

size_t bytes_of(const Node& node) { return node.shape.numel() * size_of(node.dtype); }

std::string bytes_text(size_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  if (bytes < 1024 * 1024) return fmt::format("{:.1f} KiB", bytes / 1024.0);
  return fmt::format("{:.1f} MiB", bytes / 1024.0 / 1024.0);
}

std::string scope_of(const Node& node) { return node.scope != nullptr ? *node.scope : std::string(); }

// Slots of the nodes that the tape still holds. Inputs outside of these are leaves, or nodes already used up.
std::set<int64_t> held_slots(const std::vector<const Node*>& nodes) {
  std::set<int64_t> slots;
  for (const Node* node : nodes) slots.insert(node->slot);
  return slots;
}

// A Graphviz string: quotes and backslashes escaped.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace

std::string input_text(const Node::Input& input, bool with_shape) {
  if (input.slot == Node::Input::absent) return "none";
  if (input.slot == Node::Input::constant) return fmt::format("constant {}", input.shape);
  return with_shape ? fmt::format("%{} {}", input.slot, input.shape) : fmt::format("%{}", input.slot);
}

std::string in_scope(const Node& node, const char* before) {
  const std::string scope = scope_of(node);
  return scope.empty() ? scope : fmt::format("{}in {}", before, scope);
}

std::string tape_text(const Tape& tape) {
  const std::vector<const Node*> nodes = tape.nodes();
  const std::set<int64_t> held = held_slots(nodes);
  size_t width = 0;
  for (const Node* node : nodes) width = std::max(width, std::string_view(node->name).size());
  std::string text;
  for (const Node* node : nodes) {
    std::vector<std::string> inputs;
    for (const Node::Input& input : node->inputs)
      inputs.push_back(input_text(input, !held.contains(input.slot)));
    text += fmt::format("{:>5}  {:<{}} ({}) -> {} {}, {}{}\n", fmt::format("%{}", node->slot), node->name,
                        width, fmt::join(inputs, ", "), node->shape, node->dtype, bytes_text(bytes_of(*node)),
                        in_scope(*node, ", "));
  }
  return text;
}

std::string tape_dot(const Tape& tape) {
  const std::vector<const Node*> nodes = tape.nodes();
  const std::set<int64_t> held = held_slots(nodes);
  std::map<std::string, std::string> clusters;  // by module, "" outside of all
  std::map<int64_t, Shape> leaves;
  std::string edges;
  for (const Node* node : nodes) {
    clusters[scope_of(*node)] +=
        fmt::format("    n{} [label={}];\n", node->slot,
                    quoted(fmt::format("{} {} {}", node->name, node->shape, bytes_text(bytes_of(*node)))));
    for (const Node::Input& input : node->inputs) {
      if (input.slot < 0) continue;
      if (!held.contains(input.slot)) leaves[input.slot] = input.shape;
      edges += fmt::format("  n{} -> n{};\n", input.slot, node->slot);
    }
  }
  std::string text = "digraph tape {\n  node [shape=box];\n";
  for (const auto& [slot, shape] : leaves)
    text +=
        fmt::format("  n{} [shape=ellipse, label={}];\n", slot, quoted(fmt::format("%{} {}", slot, shape)));
  int number = 0;
  for (const auto& [scope, lines] : clusters) {
    if (scope.empty())
      text += lines;
    else
      text +=
          fmt::format("  subgraph cluster_{} {{\n    label={};\n{}  }}\n", number++, quoted(scope), lines);
  }
  return text + edges + "}\n";
}

std::string idle_ops(const Tape& tape, const Tensor& y) {
  if (!tape.holds(y, 0)) return "";
  std::set<int64_t> needed{raw::slot(y).index};
  std::vector<std::string> idle;
  const std::vector<const Node*> nodes = tape.nodes();
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!needed.contains(nodes[i]->slot))
      idle.insert(idle.begin(), nodes[i]->name);
    else
      for (const Node::Input& one : nodes[i]->inputs) needed.insert(one.slot);
  }
  return fmt::format("{}", fmt::join(idle, ", "));
}

}  // namespace isobar
