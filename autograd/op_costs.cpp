#include "op_costs.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace isobar {
namespace {

using Part = Activity::Part;

constexpr size_t most_inputs = 8;
using Shapes = std::array<const Shape*, most_inputs>;

constexpr std::string_view views[] = {"broadcast_to", "identity", "observe", "permute",
                                      "recompute",    "reshape",  "slice"};
constexpr std::string_view lookups[] = {"embedding", "gather", "index_select"};

bool is_one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

double count(const Shape& shape) { return static_cast<double>(shape.numel()); }

// The extent of a dimension from the back; 1 where a user's op of one of our names has fewer dimensions.
int64_t extent(const Shape& shape, int d) { return shape.ndim() >= -d ? shape[d] : 1; }

bool is_product(std::string_view name) { return name == "matmul" || name.starts_with("linear"); }

double flops_of(const OpShapes& op, Part part) {
  const std::string_view name = op.name;
  const bool backward = part == Part::backward;
  if (op.inputs.size() < 2 || op.inputs[0] == nullptr || op.inputs[1] == nullptr) return 0;
  const Shape &a = *op.inputs[0], &b = *op.inputs[1];
  if (name == "linear_cross_entropy") {
    const double product = 2 * count(a) * static_cast<double>(extent(b, -2));
    return backward ? 0 : 3 * product;
  }
  if (name == "attention") return (backward ? 8 : 4) * count(a) * static_cast<double>(extent(b, -3));
  if (!is_product(name)) return 0;
  const double products = backward ? op.wanted[0] + op.wanted[1] : 1;
  return 2 * products * count(op.y) * static_cast<double>(extent(a, -1));
}

double bytes_of(const OpShapes& op, Part part) {
  if (is_one_of(views, op.name)) return 0;
  const auto item = static_cast<double>(size_of(op.dtype));
  double elements = count(op.y);
  if (is_one_of(lookups, op.name)) return 2 * elements * item;
  for (size_t i = 0; i < op.inputs.size(); ++i)
    if (op.inputs[i] != nullptr)
      elements += count(*op.inputs[i]) * (part == Part::backward && op.wanted[i] ? 2 : 1);
  return elements * item;
}

// How many rows of a share the product's other matrix.
int64_t rows_of(const OpShapes& op) {
  const Shape& a = *op.inputs[0];
  const bool one_matrix = op.name != std::string_view("matmul") || op.inputs[1]->ndim() == 2;
  return one_matrix ? a.numel() / std::max<int64_t>(extent(a, -1), 1) : extent(a, -2);
}

Activity activity_of(const Node& node, Part part) {
  Shapes shapes{};
  const size_t n = std::min(node.inputs.size(), most_inputs);
  OpShapes op{.name = node.name, .y = node.shape, .dtype = node.dtype, .inputs = {shapes.data(), n}};
  for (size_t i = 0; i < n; ++i) {
    const Node::Input& input = node.inputs[i];
    shapes[i] = input.slot != Node::Input::absent ? &input.shape : nullptr;
    if (input.slot >= 0) op.wanted.set(i);
  }
  Activity activity = cost_of(op, part);
  activity.module = node.scope;
  return activity;
}

}  // namespace

Activity cost_of(const OpShapes& op, Part part) {
  Activity activity{.name = op.name, .part = part, .flops = flops_of(op, part), .bytes = bytes_of(op, part)};
  activity.product = activity.flops > 0 && op.dtype == Dtype::f32;
  if (activity.flops > 0 && is_product(op.name)) activity.rows = rows_of(op);
  return activity;
}

void mark_recorded(Timeline& timeline, const Node& node) {
  timeline.mark(activity_of(node, recording.recomputing ? Part::forward_again : Part::forward));
}

void mark_walked(Timeline& timeline, const Node& node) { timeline.mark(activity_of(node, Part::backward)); }

}  // namespace isobar
