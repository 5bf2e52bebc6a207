#include "observe.h"

#include <cmath>

#include "../core/kernels/moments.h"
#include "model.h"

namespace isobar {
namespace {

constexpr double nothing_seen = std::numeric_limits<double>::quiet_NaN();
constexpr Moments no_moments{nothing_seen, nothing_seen, nothing_seen, nothing_seen};

double distance(const Tensor& x, const Tensor& y) {
  const Tensor a = contiguous(x.detach()), b = contiguous(y.detach());
  return dispatch_float("distance", x.dtype(), [&]<class T>() {
    return kernels::squared_distance(a.numel(), a.data<T>(), b.data<T>()).root();
  });
}

}  // namespace

Moments moments_of(const Tensor& x) {
  const Tensor whole = contiguous(x.detach());
  return dispatch_float("moments", x.dtype(), [&]<class T>() {
    const auto n = static_cast<double>(x.numel());
    const auto [mean, squares] = kernels::mean_and_squares(whole.numel(), whole.data<T>());
    const kernels::Squares all = kernels::sum_of_squares(whole.numel(), whole.data<T>());
    return Moments{.mean = mean,
                   .std = x.numel() > 1 ? squares.root_of(n - 1) : nothing_seen,
                   .rms = all.root_of(n),
                   .norm = all.root()};
  });
}

double rms_alignment(const Tensor& x) {
  const Tensor rows = cast(x.detach(), Dtype::f64);
  const auto width = static_cast<double>(rows.size(-1));
  return std::sqrt(mean(square(sum(rows, {-1})) / (sum(square(rows), {-1}) * width)).item());
}

void Probe::on_output(const Module& module, const Tensor& y) {
  const auto [entry, fresh] = entries_.try_emplace(module.path(), Entry{signals_.size(), true});
  if (fresh) signals_.push_back({module.path(), module.type_name(), {}, nothing_seen});
  entry->second.awaits_gradient = true;
  ModuleSignal& signal = signals_[entry->second.index];
  signal.output = is_float(y.dtype()) ? moments_of(y) : no_moments;
  signal.gradient_norm = nothing_seen;
}

void Probe::on_output_gradient(const Module& module, const Tensor& dy) {
  const auto entry = entries_.find(module.path());
  if (entry == entries_.end() || !entry->second.awaits_gradient) return;
  entry->second.awaits_gradient = false;
  signals_[entry->second.index].gradient_norm = norm_of(dy);
}

void Probe::before_step(HasFields& model) {
  weights_.clear();
  values_before_.clear();
  for (const auto& [name, parameter] : named_parameters(model)) {
    const Tensor& gradient = parameter.grad();
    weights_.push_back(
        {name, norm_of(parameter), gradient.defined() ? norm_of(gradient) : nothing_seen, nothing_seen});
    values_before_.push_back(clone(parameter.detach()));
  }
}

void Probe::after_step(HasFields& model) {
  const std::vector<NamedTensor> now = named_parameters(model);
  check(now.size() == values_before_.size(),
        "probe: the model has {} parameters, before_step saw {}; call before_step before the step",
        now.size(), values_before_.size());
  for (size_t i = 0; i < now.size(); ++i) {
    check(now[i].name == weights_[i].name, "probe: parameter {} was {} in before_step", now[i].name,
          weights_[i].name);
    weights_[i].update_ratio = distance(now[i].tensor, values_before_[i]) / weights_[i].norm;
  }
  values_before_.clear();
}

const ModuleSignal* Probe::find(const std::string& path) const {
  const auto entry = entries_.find(path);
  return entry != entries_.end() ? &signals_[entry->second.index] : nullptr;
}

// By way of the other constructor, so that the destructor runs where memory ends here.
Watch::Watch(HasFields& model, Observer& observer) : Watch() {
  for (const NamedModule& entry : named_modules(model)) {
    watched_.push_back(entry.module->observation());
    watched_.back()->seen_by.push_back({this, &observer, Scope::intern(entry.path)});
  }
}

Watch::~Watch() {
  for (const auto& observation : watched_)
    std::erase_if(observation->seen_by, [&](const Observation::Seen& seen) { return seen.watch == this; });
}

}  // namespace isobar
