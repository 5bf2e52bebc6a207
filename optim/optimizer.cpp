#include "optimizer.h"

#include <cassert>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "../core/kernels/sweep.h"
#include "../core/raw.h"

namespace isobar {
namespace {

void check_setting(const std::string& op, const char* name, double value) {
  check(value >= 0 && std::isfinite(value), "{}: {} must be finite and not negative, got {}", op, name,
        value);
}

}  // namespace

Optimizer::Optimizer(std::string op, const std::vector<ParameterGroup>& groups, double lr,
                     double weight_decay, std::vector<std::string> state_names)
    : op_(std::move(op)), state_names_(std::move(state_names)), lr_(lr) {
  check_setting(op_, "lr", lr);
  check_setting(op_, "weight_decay", weight_decay);
  assert(state_names_.size() <= max_states);
  std::unordered_set<const void*> seen;
  for (const ParameterGroup& group : groups) {
    const double decay = group.weight_decay.value_or(weight_decay);
    check_setting(op_, "lr_scale of a group", group.lr_scale);
    check_setting(op_, "weight_decay of a group", decay);
    for (const Tensor& tensor : group.parameters) {
      add(tensor, group.lr_scale, decay);
      check(seen.insert(tensor.id()).second, "{}: parameter {} {} is given twice", op_,
            parameters_.size() - 1, tensor.shape());
    }
  }
  check(!parameters_.empty(), "{}: wanted at least one parameter, got none; does the model list its fields?",
        op_);
  updates_.reserve(parameters_.size());
  steps_ = zeros(Shape(static_cast<int64_t>(parameters_.size())), Dtype::i64);
}

void Optimizer::add(const Tensor& tensor, double lr_scale, double weight_decay) {
  const size_t i = parameters_.size();
  check(tensor.defined(), "{}: parameter {} is undefined", op_, i);
  check(is_float(tensor.dtype()), "{}: parameter {} {} must be f32 or f64, got {}", op_, i, tensor.shape(),
        tensor.dtype());
  check(tensor.is_contiguous(), "{}: parameter {} {} is not contiguous; train a clone() of it", op_, i,
        tensor.shape());
  Parameter parameter{tensor, lr_scale, weight_decay, {}};
  for (size_t k = 0; k < state_names_.size(); ++k)
    parameter.state.push_back(zeros(tensor.shape(), tensor.dtype()));
  parameters_.push_back(std::move(parameter));
}

void Optimizer::step(double factor) {
  int64_t* counts = raw::write<int64_t>(steps_);
  updates_.clear();
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (parameters_[i].tensor.grad().defined())
      updates_.push_back(prepare(parameters_[i], ++counts[i], factor));
  update_all(updates_);
  for (const Parameter& p : parameters_) p.tensor.clear_grad();
}

// Opens the doors that the threads of a step go through: versions are not theirs to count.
Optimizer::Update Optimizer::prepare(Parameter& p, int64_t count, double factor) const {
  if (!p.tensor.grad().is_contiguous()) p.tensor.set_grad(raw::contiguous(p.tensor.grad()));
  Update all{.dtype = p.tensor.dtype(),
             .shape = p.tensor.shape(),
             .n = p.tensor.numel(),
             .count = count,
             .lr = lr_ * p.lr_scale,
             .weight_decay = p.weight_decay,
             .factor = factor};
  dispatch_float(op_, all.dtype, [&]<class T>() {
    all.weights = raw::write<T>(p.tensor);
    all.gradient = p.tensor.grad().data<T>();
    for (size_t k = 0; k < p.state.size(); ++k) all.states[k] = raw::write<T>(p.state[k]);
  });
  return all;
}

void Optimizer::update_all(const std::vector<Update>& all) const {
  const kernels::Sweep sweep(all.size(), [&](size_t i) { return all[i].n; });
  sweep.each([&](size_t i, int64_t begin, int64_t end) {
    Update run = all[i];
    run.begin = begin;
    run.n = end - begin;
    update(run);
  });
}

void Optimizer::set_lr(double lr) {
  check_setting(op_, "lr", lr);
  lr_ = lr;
}

void Optimizer::fields(Fields& f) {
  f.buffer("steps", steps_);
  for (size_t i = 0; i < parameters_.size(); ++i)
    for (size_t k = 0; k < state_names_.size(); ++k)
      f.buffer(fmt::format("{}.{}", i, state_names_[k]), parameters_[i].state[k]);
}

}  // namespace isobar
