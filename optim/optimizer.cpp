#include "optimizer.h"

#include <fmt/ranges.h>

#include <cassert>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "../core/kernels/map.h"
#include "../core/kernels/sweep.h"
#include "../core/phase.h"
#include "../core/raw.h"
#include "../core/steps.h"

namespace isobar {
namespace {

constexpr const char* not_among =
    "{}: parameter {} {} is not among the model's any more: was the model converted, or a part of it replaced? Make the "
    "optimizer after that";

void check_setting(const char* op, const char* name, double value) {
  check(value >= 0 && std::isfinite(value), "{}: {} must be finite and not negative, got {}", op, name,
        value);
}

void check_parameter(const char* op, size_t i, const Tensor& tensor) {
  check(tensor.defined(), "{}: parameter {} is undefined; give it a value first", op, i);
  const Shape& shape = tensor.shape();
  check(is_float(tensor.dtype()), "{}: parameter {} {} must be f32 or f64, got {}", op, i, shape,
        tensor.dtype());
  check(
      !raw::slot(tensor).recorded(),
      "{}: parameter {} {} was computed by an op on a tape, and gradients are kept for leaves only; train a "
      "detach() of it",
      op, i, shape);
  check(tensor.trainable(),
        "{}: parameter {} {} is frozen; call set_trainable() before the optimizer is made, or leave it out",
        op, i, shape);
  check(tensor.is_contiguous(), "{}: parameter {} {} is not contiguous; train a clone() of it", op, i, shape);
}

// True when the optimizer's handle is the only one of this tensor, and no gradient is left to use.
bool abandoned(const Tensor& tensor) {
  return raw::Access::handle(tensor).use_count() == 1 && !tensor.grad().defined();
}

// Whether the dtype has the factor with fewer digits, or as 0: that of a gradient whose norm is near infinity.
bool is_below_normal(double factor, Dtype dtype) {
  return dispatch_float("step", dtype, [&]<class T>() {
    return factor != 0 && std::abs(factor) < static_cast<double>(std::numeric_limits<T>::min());
  });
}

// The gradient times such a factor, which may be an ordinary number.
Tensor in_two_factors(const Tensor& dw, double factor) {
  const double first = dw.dtype() == Dtype::f32 ? 0x1p-100 : 0x1p-900;
  Tensor result = raw::clone(dw);
  dispatch_float("step", dw.dtype(), [&]<class T>() {
    const T f = static_cast<T>(first), s = static_cast<T>(factor / first);
    T* const x = raw::write<T>(result);
    kernels::map_elements(
        dw.numel(), x, [f, s](T value) { return s * (f * value); }, x);
  });
  return result;
}

}  // namespace

Optimizer::Optimizer(const Kind& kind, const std::vector<ParameterGroup>& groups, double lr,
                     double weight_decay)
    : kind_(kind), lr_(lr) {
  check_setting(kind_.op, "lr", lr);
  check_setting(kind_.op, "weight_decay", weight_decay);
  assert(kind_.states.size() <= max_states);
  std::unordered_set<const void*> seen;
  for (const ParameterGroup& group : groups) {
    const double decay = group.weight_decay.value_or(weight_decay);
    check_setting(kind_.op, "lr_scale of a group", group.lr_scale);
    check_setting(kind_.op, "weight_decay of a group", decay);
    for (const Tensor& tensor : group.parameters) {
      check_parameter(kind_.op, parameters_.size(), tensor);
      check(seen.insert(tensor.id()).second, "{}: parameter {} {} is given twice", kind_.op,
            parameters_.size(), tensor.shape());
      raw::mark_listed(tensor);
      parameters_.push_back({tensor, group.lr_scale, decay, {}});
      for (size_t k = 0; k < kind_.states.size(); ++k)
        parameters_.back().state.push_back(zeros(tensor.shape(), tensor.dtype()));
    }
  }
  check(!parameters_.empty(), "{}: wanted at least one parameter, got none; does the model list its fields?",
        kind_.op);
  check_apart();
  updates_.reserve(parameters_.size());
  steps_ = zeros(Shape(static_cast<int64_t>(parameters_.size())), Dtype::i64);
}

// A step would move numbers twice that two parameters share: a weight and a view of it.
void Optimizer::check_apart() const {
  const auto begin = [&](size_t i) { return static_cast<const char*>(raw::address(parameters_[i].tensor)); };
  std::vector<size_t> order;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].tensor.numel() > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return begin(i) < begin(j); });
  for (size_t k = 1; k < order.size(); ++k) {
    const size_t i = order[k - 1], j = order[k], first = std::min(i, j), second = std::max(i, j);
    const Tensor& x = parameters_[i].tensor;
    check(
        begin(i) + x.numel() * size_of(x.dtype()) <= begin(j),
        "{}: parameters {} {} and {} {} share numbers, which a step would move twice; give one of them, or a "
        "clone()",
        kind_.op, first, parameters_[first].tensor.shape(), second, parameters_[second].tensor.shape());
  }
}

int64_t Optimizer::step(double factor) {
  const Phase phase("optimizer");
  check_followed();
  check_movable();
  int64_t* const counts = raw::write<int64_t>(steps_, kind_.writer);
  updates_.clear();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].tensor.trainable() && parameters_[i].tensor.grad().defined())
      updates_.push_back(prepare(parameters_[i], ++counts[i], factor));
  update_all(updates_);
  for (const Parameter& p : parameters_) p.tensor.clear_grad();
  steps::count();
  return static_cast<int64_t>(updates_.size());
}

// Throws where the model that is followed does not have a parameter any more.
void Optimizer::check_followed() const {
  if (!model_) return;
  std::unordered_set<const void*> ids;
  for (const Tensor& tensor : model_()) ids.insert(tensor.id());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& tensor = parameters_[i].tensor;
    check(!tensor.trainable() || ids.contains(tensor.id()), not_among, kind_.op, i, tensor.shape());
  }
}

// Throws where a step could move no parameter, and names the likely mistake.
void Optimizer::check_movable() const {
  bool trainable = false, gradient = false;
  std::vector<std::string> lost;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& tensor = parameters_[i].tensor;
    trainable |= tensor.trainable();
    gradient |= tensor.trainable() && tensor.grad().defined();
    if (abandoned(tensor)) lost.push_back(fmt::format("{} {}", i, tensor.shape()));
  }
  constexpr size_t shown = 4;
  check(lost.empty(),
        "{}: parameter {}{} can get no gradient any more, because only the optimizer still holds it: was the "
        "model converted, or a part of it replaced? Make the optimizer after convert()",
        kind_.op, fmt::join(lost.begin(), lost.begin() + std::min(lost.size(), shown), ", "),
        lost.size() > shown ? fmt::format(" and {} more", lost.size() - shown) : "");
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& tensor = parameters_[i].tensor;
    check(
        !tensor.trainable() || !tensor.grad().defined() || !raw::gradient_age(tensor).across_steps,
        "{}: the gradient of parameter {} {} is a sum across steps: a step before did not use it up, and a "
        "later backward added to it; call clear_gradients() after a step that leaves gradients, freeze() what "
        "a loss is not to train, or call set_grad(grad()) of the parameter where the sum is wanted",
        kind_.op, i, tensor.shape());
  }
  // All may be frozen on purpose, in a stage of training that moves other parameters.
  check(gradient || !trainable,
        "{}: no parameter has a gradient; call tape.backward(loss) before step(), and make the optimizer "
        "after convert() or another replacement of the model's tensors",
        kind_.op);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& tensor = parameters_[i].tensor;
    check(!tensor.trainable() || !raw::replaced(tensor), not_among, kind_.op, i, tensor.shape());
  }
}

// Takes the pointers for writing before the threads of the step start, because one thread counts versions.
Optimizer::Update Optimizer::prepare(Parameter& p, int64_t count, double factor) const {
  if (!p.tensor.grad().is_contiguous()) p.tensor.set_grad(raw::contiguous(p.tensor.grad()));
  if (is_below_normal(factor, p.tensor.dtype())) {
    p.tensor.set_grad(in_two_factors(p.tensor.grad(), factor));
    factor = 1;
  }
  Update u{.shape = p.tensor.shape(),
           .count = count,
           .lr = lr_ * p.lr_scale,
           .weight_decay = p.weight_decay,
           .factor = factor,
           .all = {}};
  dispatch_float(kind_.op, p.tensor.dtype(), [&]<class T>() {
    Slice<T> run{.n = p.tensor.numel(),
                 .w = raw::write<T>(p.tensor, kind_.writer),
                 .dw = p.tensor.grad().data<T>(),
                 .state = {}};
    for (size_t k = 0; k < p.state.size(); ++k) run.state[k] = raw::write<T>(p.state[k], kind_.writer);
    u.all = run;
  });
  return u;
}

void Optimizer::update_all(const std::vector<Update>& all) const {
  const kernels::Sweep sweep(all.size(), [&](size_t i) { return all[i].shape.numel(); });
  sweep.each([&](size_t i, int64_t begin, int64_t end) { update(all[i], begin, end); });
}

void Optimizer::set_lr(double lr) {
  check_setting(kind_.op, "lr", lr);
  lr_ = lr;
}

void Optimizer::fields(Fields& f) {
  f.buffer("steps", steps_);
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (size_t k = 0; k < kind_.states.size(); ++k)
      f.buffer(fmt::format("{}.{}", i, kind_.states[k]), parameters_[i].state[k]);
}

}  // namespace isobar
