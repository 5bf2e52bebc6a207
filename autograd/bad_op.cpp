#include "bad_op.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "../core/raw.h"

namespace isobar {
namespace {

// As short as it reads back in its dtype.
std::string number_text(double value, Dtype dtype) {
  if (std::isnan(value)) return "NaN";
  return dtype == Dtype::f32 ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
}

// "3 NaN and 2 infinities", "" for finite values.
std::string bad_text(const ValueRange& range) {
  std::vector<std::string> parts;
  if (range.nans > 0) parts.push_back(fmt::format("{} NaN", range.nans));
  if (range.infinities > 0)
    parts.push_back(fmt::format("{} infinit{}", range.infinities, range.infinities == 1 ? "y" : "ies"));
  return fmt::format("{}", fmt::join(parts, " and "));
}

// "inf at [3, 0] of its result [4, 2]".
std::string what_and_where(const ValueRange& bad, const std::string& of) {
  const int64_t count = bad.nans + bad.infinities;
  const std::string others =
      count > 1 ? fmt::format(" and {} more place{}", count - 1, count == 2 ? "" : "s") : "";
  return fmt::format("{} at [{}]{} of {} {}", number_text(bad.bad_value, bad.dtype),
                     fmt::join(bad.index(), ", "), others, of, bad.shape);
}

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

std::string in_module(const std::string& op, const std::string& module) {
  return module.empty() ? op : fmt::format("{} in {}", op, module);
}

}  // namespace

std::vector<int64_t> ValueRange::index() const {
  std::vector<int64_t> index(static_cast<size_t>(shape.ndim()));
  int64_t rest = std::max<int64_t>(first_bad, 0);
  for (int d = shape.ndim() - 1; d >= 0; --d) {
    index[static_cast<size_t>(d)] = rest % shape[d];
    rest /= shape[d];
  }
  return index;
}

std::string ValueRange::text() const {
  std::string text = fmt::format("{}", shape);
  if (!std::isnan(least))
    text += fmt::format(" from {} to {}", number_text(least, dtype), number_text(greatest, dtype));
  return finite() ? text : fmt::format("{} {} {}", text, std::isnan(least) ? "with" : "and", bad_text(*this));
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

std::string BadOp::place() const {
  const bool backwards = way == Way::backward || way == Way::sum;
  return fmt::format("{} of {}", backwards ? "backward" : "forward", in_module(op, module));
}

std::string BadOp::text(const std::string& leaf_name) const {
  std::string text = place();
  if (way == Way::forward)
    text += fmt::format(" made {} out of {}", what_and_where(result, "its result"), inputs_text(inputs));
  if (way == Way::input) {
    const std::string who =
        leaf.defined() ? "the parameter" + (leaf_name.empty() ? "" : " " + leaf_name) : "a constant or data";
    text += fmt::format(" got {}, {}: it was not finite before",
                        what_and_where(result, fmt::format("input {}", input)), who);
  }
  if (way == Way::backward)
    text += fmt::format(" made {} out of dy {}, {}",
                        what_and_where(result, fmt::format("the gradient of input {}", input)), dy->text(),
                        inputs_text(inputs));
  if (way == Way::sum)
    text += fmt::format(": the gradients of all uses of its result are finite, their sum holds {}",
                        what_and_where(result, "dy"));
  if (!turned_nan.empty()) text += fmt::format("; {} made NaN of it", turned_nan);
  if (passed_on > 0)
    text += fmt::format("; passed on to {} result{} or gradient{}", passed_on, passed_on == 1 ? "" : "s",
                        passed_on == 1 ? "" : "s");
  return text;
}

void BadOpSearch::on_record(uint64_t tape, const Node& node, const Tensor& y,
                            std::span<const Tensor* const> inputs) {
  if (under_way_.empty() && !std::exchange(new_walk_, true)) first_ = ops_.size();
  if (found_ && !within_found()) {
    found_->passed_on += !all_finite(y);
    return;
  }
  Op op{.name = node.name,
        .module = node.scope != nullptr ? *node.scope : "",
        .place = {tape, node.slot},
        .recomputed = node.continues_sums,
        .inputs = {},
        .result = range_of(y),
        .values = {}};
  if (!op.result.finite()) op.values = y.detach();
  for (const Tensor* x : inputs) {
    Input& input = op.inputs.emplace_back();
    if (!x->defined()) continue;
    input.range = range_of(*x);
    const TapeSlot slot = raw::slot(*x);
    const auto maker = numbers_.find({slot.tape, slot.index});
    if (slot.tape != 0 && maker != numbers_.end()) input.from = static_cast<int64_t>(maker->second);
    input.constant = slot.tape == 0 && !x->trainable();
    if (input.range.finite() || input.from >= 0) continue;
    input.values = x->detach();
    if (x->trainable()) input.leaf = *x;
  }
  numbers_.emplace(Place{tape, node.slot}, ops_.size());
  ops_.push_back(std::move(op));
}

// The backward of the recompute() that was found is under way.
bool BadOpSearch::within_found() const {
  return std::any_of(under_way_.begin(), under_way_.end(),
                     [this](const Walked& walked) { return walked.place == found_at_; });
}

void BadOpSearch::find(BadOp bad) {
  const Op& op = ops_[bad.number + first_];
  found_at_ = op.recomputed ? op.place : Place{};
  found_ = std::move(bad);
}

// A recompute() was found, and its function's last op has this number: which of its ops was it?
void BadOpSearch::find_within(size_t number) {
  const BadOp whole = *found_;
  find(producer_of(number));
  found_->number = whole.number;
  found_->passed_on += whole.passed_on;
  if (!whole.turned_nan.empty()) found_->turned_nan = whole.turned_nan;
}

void BadOpSearch::on_backward(uint64_t tape, const Node& node, const Tensor& dy) {
  const bool start = std::exchange(new_walk_, false);
  const bool within = found_ && within_found();
  under_way_.push_back({{tape, node.slot}, found_ ? ValueRange{} : range_of(dy)});
  const auto number = numbers_.find({tape, node.slot});
  if (within && number != numbers_.end() && !ops_[number->second].result.finite())
    find_within(number->second);
  if (found_) return;
  if (start) tapes_.push_back(tape);
  if (number == numbers_.end()) return;
  if (start && !ops_[number->second].result.finite()) {
    find(producer_of(number->second));
  } else if (!under_way_.back().dy.finite()) {
    find(at(number->second, BadOp::Way::sum));
    found_->result = under_way_.back().dy;
    found_->values = dy.detach();
  }
}

void BadOpSearch::on_gradients(uint64_t tape, const Node& node, std::span<const Tensor> dx) {
  const ValueRange dy = std::move(under_way_.back().dy);
  under_way_.pop_back();
  const auto number = numbers_.find({tape, node.slot});
  for (size_t i = 0; i < dx.size(); ++i) {
    if (node.inputs[i].slot < 0 || !dx[i].defined() || all_finite(dx[i])) continue;
    if (found_) {
      ++found_->passed_on;
      return;
    }
    if (number == numbers_.end()) return;
    const Op& op = ops_[number->second];
    const bool finite_forward =
        op.result.finite() &&
        std::all_of(op.inputs.begin(), op.inputs.end(), [](const Input& x) { return x.range.finite(); });
    if (!finite_forward) {
      find(producer_of(number->second));
      return;
    }
    find(at(number->second, BadOp::Way::backward));
    found_->dy = dy;
    found_->input = found_->values_of = static_cast<int64_t>(i);
    found_->result = range_of(dx[i]);
    found_->values = dx[i].detach();
    return;
  }
}

std::optional<BadOp> BadOpSearch::found() const {
  if (!found_ && new_walk_ && !ops_.empty() && !ops_.back().result.finite())
    return producer_of(ops_.size() - 1);
  return found_;
}

BadOp BadOpSearch::at(size_t number, BadOp::Way way) const {
  const Op& op = ops_[number];
  BadOp bad{.way = way,
            .op = op.name,
            .module = op.module,
            .number = number - first_,
            .tape = std::max<int64_t>(static_cast<int64_t>(tapes_.size()) - 1, 0),
            .inputs = {},
            .dy = {},
            .result = op.result,
            .values = op.values,
            .leaf = {},
            .turned_nan = {}};
  for (const Input& input : op.inputs) bad.inputs.push_back(input.range);
  return bad;
}

// Back from an op whose result or input is not finite. NaN is followed first; an infinity among the inputs of the op
// that made the NaN is followed next, but for one that only constants hold.
BadOp BadOpSearch::producer_of(size_t number) const {
  std::optional<size_t> turned_nan;
  const auto finish = [&](BadOp bad) {
    const size_t producer = bad.number + first_;
    if (turned_nan && *turned_nan != producer)
      bad.turned_nan = in_module(ops_[*turned_nan].name, ops_[*turned_nan].module);
    for (size_t i = producer + 1; i < ops_.size(); ++i) bad.passed_on += !ops_[i].result.finite();
    return bad;
  };
  for (;;) {
    const Op& op = ops_[number];
    const auto first_with = [&](const auto& wanted) {
      return std::find_if(op.inputs.begin(), op.inputs.end(), wanted);
    };
    auto next = first_with([](const Input& x) { return x.range.nans > 0; });
    if (next == op.inputs.end()) {
      if (!turned_nan && op.result.nans > 0) turned_nan = number;
      next = first_with([](const Input& x) { return x.range.infinities > 0 && !x.constant; });
    }
    const auto constant = first_with([](const Input& x) { return !x.range.finite(); });
    if (next == op.inputs.end() && constant == op.inputs.end())
      return finish(at(number, BadOp::Way::forward));
    if (next == op.inputs.end() && turned_nan) return finish(at(*turned_nan, BadOp::Way::forward));
    const auto& input = next != op.inputs.end() ? *next : *constant;
    if (input.from >= 0) {
      number = static_cast<size_t>(input.from);
      continue;
    }
    BadOp bad = at(number, BadOp::Way::input);
    bad.input = &input - op.inputs.data();
    bad.result = input.range;
    if (!bad.values.defined()) bad.values = input.values, bad.values_of = bad.input;
    bad.leaf = input.leaf;
    return finish(std::move(bad));
  }
}

std::optional<Shape> BadOpSearch::shape_of(const BadOp& bad) const {
  if (bad.number >= ops_.size()) return std::nullopt;
  const Op& op = ops_[bad.number];
  if (bad.op != op.name || bad.module != op.module || bad.inputs.size() != op.inputs.size())
    return std::nullopt;
  return bad.values_of >= 0 ? op.inputs[static_cast<size_t>(bad.values_of)].range.shape : op.result.shape;
}

}  // namespace isobar
