#include "tape_trace.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "../../core/raw.h"
#include "../ops.h"

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

std::string module_of(const Node& node) { return node.scope != nullptr ? *node.scope : ""; }

// As short as it reads back in its dtype.
std::string number_text(double value, Dtype dtype) {
  if (std::isnan(value)) return "NaN";
  return dtype == Dtype::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

}  // namespace

std::string ValueRange::text() const {
  std::string text = fmt::format("{}", shape);
  if (!std::isnan(least))
    text += fmt::format(" from {} to {}", number_text(least, dtype), number_text(greatest, dtype));
  std::vector<std::string> bad;
  if (nans > 0) bad.push_back(fmt::format("{} NaN", nans));
  if (infinities > 0) bad.push_back(fmt::format("{} infinit{}", infinities, infinities == 1 ? "y" : "ies"));
  if (bad.empty()) return text;
  return fmt::format("{} {} {}", text, std::isnan(least) ? "with" : "and", fmt::join(bad, " and "));
}

std::string ValueRange::bad_text(const std::string& of) const {
  const int64_t more = nans + infinities - 1;
  const std::string others = more > 0 ? fmt::format(" and {} more place{}", more, more == 1 ? "" : "s") : "";
  return fmt::format("{} at [{}]{} of {} {}", number_text(bad_value, dtype), fmt::join(index(), ", "), others,
                     of, shape);
}

ValueRange range_of(const Tensor& x) {
  const Tensor whole = raw::contiguous(x);
  ValueRange range{.shape = x.shape(), .dtype = x.dtype()};
  dispatch_any(x.dtype(), [&]<class T>() {
    const T* const values = whole.data<T>();
    for (int64_t i = 0; i < whole.numel(); ++i) {
      const auto value = static_cast<double>(values[i]);
      if (std::isfinite(value)) {
        range.least = std::fmin(range.least, value);  // fmin(NaN, value) is value
        range.greatest = std::fmax(range.greatest, value);
        continue;
      }
      ++(std::isnan(value) ? range.nans : range.infinities);
      if (range.first_bad < 0) range.first_bad = i, range.bad_value = value;
    }
  });
  return range;
}

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

const TapeTrace::Value& TapeTrace::value_of(const Input& input) const {
  static const Value absent{};
  if (input.kind == Input::Kind::absent) return absent;
  return input.kind == Input::Kind::op ? ops_[input.number].value : sources_[input.number].value;
}

TapeTrace::Input TapeTrace::input_of(const Tensor& x, const Node& reader, const Node::Input& input) {
  if (!x.defined()) return {Input::Kind::absent, 0, input.slot};
  const TapeSlot slot = raw::slot(x);
  if (const auto op = op_at_.find({slot.tape, slot.index}); op != op_at_.end())
    return {Input::Kind::op, op->second, input.slot};
  const auto [place, fresh] = source_of_.try_emplace({x.id(), input.stamp}, sources_.size());
  if (fresh)
    sources_.push_back({.tensor = x,
                        .constant = input.slot == Node::Input::constant,
                        .module = module_of(reader),
                        .value = value_of(x)});
  return {Input::Kind::source, place->second, input.slot};
}

void TapeTrace::recorded(uint64_t tape, const Node& node, const Tensor& y,
                         std::span<const Tensor* const> inputs) {
  Op op{.name = node.name,
        .module = module_of(node),
        .tape = tape,
        .slot = node.slot,
        .inputs = {},
        .value = value_of(y),
        .bad = {}};
  for (size_t i = 0; i < inputs.size(); ++i) op.inputs.push_back(input_of(*inputs[i], node, node.inputs[i]));
  if (!op.value.range.finite() && !bad_gradient_) op.bad = y.detach();
  op_at_.emplace(std::pair(tape, node.slot), ops_.size());
  if (std::find(tapes_.begin(), tapes_.end(), tape) == tapes_.end()) tapes_.push_back(tape);
  steps_.push_back({.backward = false, .number = ops_.size()});
  ops_.push_back(std::move(op));
}

void TapeTrace::note_gradient(size_t visit, int64_t input, const Tensor& x) {
  if (!bad_gradient_ && !all_finite(x)) bad_gradient_ = {visit, input, x.detach()};
}

void TapeTrace::walking(uint64_t tape, const Node& node, const Tensor& dy) {
  const auto op = op_at_.find({tape, node.slot});
  if (op == op_at_.end()) return;
  open_.push_back(visits_.size());
  note_gradient(visits_.size(), -1, dy);
  visits_.push_back({.op = op->second, .dy = value_of(dy), .dx = {}});
}

void TapeTrace::walked(uint64_t tape, const Node& node, std::span<const Tensor> dx) {
  const auto op = op_at_.find({tape, node.slot});
  if (op == op_at_.end()) return;
  // Visits that do not end were left by an exception.
  while (!open_.empty() && visits_[open_.back()].op != op->second) open_.pop_back();
  if (open_.empty()) return;
  const size_t number = open_.back();
  open_.pop_back();
  for (size_t i = 0; i < dx.size(); ++i) {
    std::optional<Value>& value = visits_[number].dx.emplace_back();
    if (node.inputs[i].slot < 0 || !dx[i].defined()) continue;
    note_gradient(number, static_cast<int64_t>(i), dx[i]);
    value = value_of(summed(dx[i], node.inputs[i].shape));
  }
  steps_.push_back({.backward = true, .number = number});
}

}  // namespace isobar
