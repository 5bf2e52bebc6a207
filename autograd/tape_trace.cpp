#include "tape_trace.h"

#include <utility>

#include "../core/norm_of.h"
#include "../core/raw.h"
#include "ops.h"

namespace isobar {
namespace {

// The gradient of an input that was broadcast, summed as the tape will. One of a wrong shape stays as it is:
// the tape refuses it.
Tensor summed(const Tensor& dx, const Shape& shape) {
  bool sums = dx.ndim() >= shape.ndim() && dx.shape() != shape;
  for (int d = 1; sums && d <= shape.ndim(); ++d) sums = shape[-d] == dx.size(-d) || shape[-d] == 1;
  const NoTape pause;
  return sums ? sum_to_size(dx, shape) : dx;
}

}  // namespace

TapeTrace::Value TapeTrace::value_of(const Tensor& x) {
  Value value{.range = range_of(x), .norm = norm_of(x), .numbers = {}};
  if (x.numel() > most_numbers) return value;
  const Tensor whole = raw::contiguous(x);
  dispatch_any(x.dtype(), [&]<class T>() {
    for (const T number : std::span(whole.data<T>(), static_cast<size_t>(whole.numel())))
      value.numbers.push_back(static_cast<double>(number));
  });
  return value;
}

TapeTrace::Input TapeTrace::input_of(const Tensor& x, const Node& reader, const Node::Input& input) {
  if (!x.defined()) return {Input::Kind::absent, 0};
  if (const auto op = op_of_slot_.find(input.slot); op != op_of_slot_.end())
    return {Input::Kind::op, op->second};
  const auto [place, fresh] = source_of_.try_emplace({x.id(), input.stamp}, sources_.size());
  if (fresh)
    sources_.push_back({.tensor = x,
                        .constant = input.slot == Node::Input::constant,
                        .module = reader.scope != nullptr ? *reader.scope : "",
                        .value = value_of(x)});
  return {Input::Kind::source, place->second};
}

void TapeTrace::on_record(uint64_t tape, const Node& node, const Tensor& y,
                          std::span<const Tensor* const> inputs) {
  if (tape_ == 0) tape_ = tape;
  if (tape != tape_ || ++recorded_ > most_ops) return;
  Op op{.name = node.name,
        .module = node.scope != nullptr ? *node.scope : "",
        .inputs = {},
        .value = value_of(y)};
  for (size_t i = 0; i < inputs.size(); ++i) op.inputs.push_back(input_of(*inputs[i], node, node.inputs[i]));
  op_of_slot_.emplace(node.slot, ops_.size());
  steps_.push_back({.backward = false, .number = ops_.size()});
  ops_.push_back(std::move(op));
}

void TapeTrace::on_backward(uint64_t, const Node&, const Tensor& dy) { dys_.push_back(value_of(dy)); }

void TapeTrace::on_gradients(uint64_t tape, const Node& node, std::span<const Tensor> dx) {
  Value dy = std::move(dys_.back());
  dys_.pop_back();
  const auto op = op_of_slot_.find(node.slot);
  if (tape != tape_ || op == op_of_slot_.end()) return;
  Visit visit{.op = op->second, .dy = std::move(dy), .dx = {}};
  for (size_t i = 0; i < dx.size(); ++i) {
    const bool wanted = node.inputs[i].slot >= 0 && dx[i].defined();
    visit.dx.push_back(wanted ? std::optional(value_of(summed(dx[i], node.inputs[i].shape))) : std::nullopt);
  }
  steps_.push_back({.backward = true, .number = visits_.size()});
  visits_.push_back(std::move(visit));
}

}  // namespace isobar
