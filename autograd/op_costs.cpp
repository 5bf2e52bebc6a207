#include "op_costs.h"

#include <algorithm>

namespace isobar {
namespace {

using Part = Activity::Part;
using Kind = Node::Kind;

double count(const Shape& shape) { return static_cast<double>(shape.numel()); }

// The extent of a dimension from the back; 1 where a user's op of this kind has fewer dimensions.
int64_t extent(const Shape& shape, int d) { return shape.ndim() >= -d ? shape[d] : 1; }
double length(const Shape& shape, int d) { return static_cast<double>(extent(shape, d)); }

bool is_wanted(const Node::Input& input) { return input.slot >= 0; }
bool is_absent(const Node::Input& input) { return input.slot == Node::Input::absent; }

double flops_of(const Node& node, bool backward) {
  if (node.inputs.size() < 2 || is_absent(node.inputs[0]) || is_absent(node.inputs[1])) return 0;
  const Node::Input &a = node.inputs[0], &b = node.inputs[1];
  if (node.kind == Kind::product_loss) return backward ? 0 : 3 * 2 * count(a.shape) * length(b.shape, -2);
  if (node.kind == Kind::attention) return (backward ? 8 : 4) * count(a.shape) * length(b.shape, -3);
  if (node.kind != Kind::product && node.kind != Kind::convolution) return 0;
  const int products = backward ? is_wanted(a) + is_wanted(b) : 1;
  if (node.kind == Kind::convolution)
    return 2 * products * count(node.shape) * count(b.shape) /
           static_cast<double>(std::max<int64_t>(b.shape.ndim() > 0 ? b.shape[0] : 1, 1));
  return 2 * products * count(node.shape) * length(a.shape, -1);
}

double bytes_of(const Node& node, bool backward) {
  if (node.kind == Kind::view) return 0;
  double elements = count(node.shape);
  if (node.kind == Kind::lookup) elements *= 2;
  if (node.kind != Kind::lookup)
    for (const Node::Input& input : node.inputs)
      if (!is_absent(input)) elements += count(input.shape) * (backward && is_wanted(input) ? 2 : 1);
  return elements * static_cast<double>(size_of(node.dtype));
}

// How many rows of a product's left matrix share the other one.
int64_t rows_of(const Node& node) {
  const Shape &a = node.inputs[0].shape, &b = node.inputs[1].shape;
  return b.ndim() == 2 ? a.numel() / std::max<int64_t>(extent(a, -1), 1) : extent(a, -2);
}

}  // namespace

Activity cost_of(const Node& node, Part part) {
  const bool backward = part == Part::backward;
  Activity activity{.name = node.name,
                    .module = node.scope,
                    .part = part,
                    .flops = flops_of(node, backward),
                    .bytes = bytes_of(node, backward)};
  activity.product = activity.flops > 0 && node.dtype == Dtype::f32;
  if (activity.flops > 0 && node.kind != Kind::attention && node.kind != Kind::convolution)
    activity.rows = rows_of(node);
  return activity;
}

}  // namespace isobar
