#include "layer_runner.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../../autograd/check/diagnosis/differences.h"
#include "../../autograd/check/gradcheck.h"
#include "../../autograd/tape.h"
#include "../../core/memory.h"
#include "../model.h"

namespace isobar {
namespace {

const Rng draws(11);

// The same values as a strided tensor: every second element of a larger block.
Tensor spread(const Tensor& x) {
  std::vector<double> values;
  for (double v : x.to_vector<double>()) values.insert(values.end(), {v, -7});
  Strides strides = x.shape().strides();
  for (int64_t& stride : strides) stride *= 2;
  return raw::as_strided(cast(tensor(Shape{2 * x.numel()}, values), x.dtype()), x.shape(), strides);
}

// The names of the recorded ops that y does not depend on, "square, mean", as an op's own computations
// outside of NoTape; "" for a y that is not on this tape.
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

}  // namespace

Tensor upstream(const Tensor& y) { return draws.split("dy").normal(y.shape(), 0, 1, y.dtype()); }

Tensor with_rows(const Tensor& x, int64_t count) {
  const int64_t width = x.numel() / x.size(0);
  const std::vector<double> values = x.to_vector<double>();
  std::vector<double> result(count * width);
  for (size_t i = 0; i < result.size(); ++i) result[i] = values[i % values.size()];
  return cast(tensor(x.shape().with(0, count), result), x.dtype());
}

Tensor broadcast(const Tensor& dy) {
  std::vector<double> values(dy.numel(), -7);  // what a backward that ignores strides reads
  if (!values.empty()) values[0] = 1;
  return raw::as_strided(cast(tensor(Shape{dy.numel()}, values), dy.dtype()), dy.shape(), Strides{});
}

Tensor transposed(const Tensor& dy) { return dy.ndim() < 2 ? dy : transpose(raw::contiguous(transpose(dy))); }

std::unique_ptr<Module> LayerRunner::made() const {
  std::unique_ptr<Module> module = make_();
  check(module != nullptr, "the maker returned null; return std::make_unique<YourLayer>(...)");
  return module;
}

std::unique_ptr<Module> LayerRunner::moved(Dtype dtype, bool training) const {
  std::unique_ptr<Module> module = made();
  convert(*module, Dtype::f64);
  for (auto& [name, parameter] : named_parameters(*module)) {
    const Tensor noise = draws.split(name).normal(parameter.shape(), 0, 0.2, Dtype::f64);
    assign(parameter, parameter.detach() + noise);
  }
  convert(*module, dtype);
  if (!training) eval(*module);
  return module;
}

Inputs LayerRunner::input(Dtype dtype) const {
  Inputs result;  // clones: a layer that writes to its input must not change the example
  for (const Tensor& x : x_) result.push_back(clone(is_float(x.dtype()) ? cast(x, dtype) : x));
  return result;
}

Inputs LayerRunner::spread_input() const {
  Inputs result = input();
  for (Tensor& x : result) x = spread(x);
  return result;
}

Inputs LayerRunner::rows(int64_t count, Dtype dtype) const {
  Inputs result = input(dtype);
  for (Tensor& x : result)
    if (count != batch() && x.ndim() > 0 && x.size(0) == batch()) x = with_rows(x, count);
  return result;
}

Inputs LayerRunner::other_rows(int64_t count) const {
  Inputs result = rows(count);
  for (Tensor& x : result) {
    std::vector<double> values = x.to_vector<double>();
    if (is_float(x.dtype()))
      std::reverse(values.begin(), values.end());
    else if (x.ndim() > 0 && x.size(0) == count)  // whole rows: columns of indices may differ in range
      std::rotate(values.begin(), values.begin() + x.numel() / count, values.end());
    x = cast(tensor(x.shape(), values), x.dtype());
  }
  return result;
}

Inputs LayerRunner::normal_input() const {
  Inputs result = rows(rows_of(1 << 14));
  for (size_t i = 0; i < result.size(); ++i)
    if (is_float(result[i].dtype()))
      result[i] = draws.split(i == 0 ? "signal" : fmt::format("signal {}", i))
                      .normal(result[i].shape(), 0, 1, Dtype::f64);
  return result;
}

Inputs LayerRunner::row(const Inputs& x, int64_t i) const {
  Inputs result = x;
  for (size_t k = 0; k < x.size(); ++k)
    if (x_[k].ndim() > 0 && x_[k].size(0) == batch()) result[k] = raw::contiguous(slice(x[k], 0, i, i + 1));
  return result;
}

int64_t LayerRunner::rows_of(int64_t elements) const {
  return affordable(elements * batch() / std::max<int64_t>(1, x_[0].numel()));
}

int64_t LayerRunner::affordable(int64_t count) const {
  constexpr double limit = 1 << 24;  // bytes
  if (square_bytes_ > 0)
    count = static_cast<int64_t>(std::min<double>(count, std::sqrt(limit / square_bytes_)));
  return options_.batch ? std::max(batch(), count) : batch();
}

std::string LayerRunner::name_of_input(size_t i) const {
  return x_.size() == 1 ? "x" : fmt::format("x[{}]", i);
}

// Gives what is not trained its first values again.
void LayerRunner::reset_state(Module& module) const {
  const auto fresh = made();
  std::vector<NamedTensor> state = named_state(module), first = named_state(*fresh);
  for (size_t i = 0; i < state.size(); ++i)
    if (!first[i].tensor.trainable())  // differences put plain numbers in the place of parameters
      assign(state[i].tensor, cast(first[i].tensor.detach(), state[i].tensor.dtype()));
}

Tensor LayerRunner::call(Module& module, const Inputs& x) const {
  if (options_.stateful && module.training()) reset_state(module);
  return options_.call != nullptr ? options_.call(module, x) : module(x[0]);
}

Tensor LayerRunner::output(Module& module, const Inputs& x) const {
  const Tape tape({.rng = Rng(3)});
  return call(module, x).detach();
}

StepResult LayerRunner::step(Module& module, const StepSetup& run) const {
  Inputs x = run.x.empty() ? input(run.dtype) : run.x;
  std::vector<NamedTensor> leaves, buffers;
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = x[i].detach();
    if (is_float(x[i].dtype())) leaves.push_back({name_of_input(i), x[i].set_trainable()});
  }
  for (const NamedTensor& entry : named_state(module))
    (entry.tensor.trainable() ? leaves : buffers).push_back(entry);
  for (const NamedTensor& leaf : leaves) leaf.tensor.clear_grad();
  StepResult result;
  Tape tape({.higher_order = run.higher_order, .rng = Rng(3), .again = true});
  Tensor y = call(module, x);
  if (!run.second.empty()) {
    const Tensor z = call(module, run.second);
    y = y * upstream(y) + z * upstream(z);
  }
  const Tensor dy = run.dy.defined() ? run.dy : run.second.empty() ? upstream(y) : ones(y.shape(), y.dtype());
  const std::vector<double> before = dy.to_vector<double>();
  for (const Tensor& used : tape.leaves()) {
    const auto is_used = [&](const NamedTensor& leaf) { return leaf.tensor.id() == used.id(); };
    const auto leaf = std::find_if(leaves.begin(), leaves.end(), is_used);
    leaf == leaves.end() ? result.unlisted.push_back(used.shape()) : result.used.push_back(leaf->name);
  }
  result.idle = idle_ops(tape, y);
  result.on_tape = tape.needs_gradient(y);
  if (result.on_tape) tape.backward(y, dy);
  result.dy_kept = dy.to_vector<double>() == before;
  result.values.push_back({"y", y.detach()});
  for (const NamedTensor& leaf : leaves) {
    const Tensor& dx = leaf.tensor.grad();
    result.values.push_back({"gradient of " + leaf.name,
                             dx.defined() ? dx.detach() : zeros(leaf.tensor.shape(), leaf.tensor.dtype())});
    leaf.tensor.clear_grad();
  }
  for (const NamedTensor& buffer : buffers) result.values.push_back({buffer.name, clone(buffer.tensor)});
  return result;
}

void LayerRunner::compare_modes() {
  const std::unique_ptr<Module> module = moved();
  const auto run = [&](uint64_t seed) {
    Tape tape({.rng = Rng(seed)});
    return call(*module, input()).to_vector<double>();
  };
  const std::vector<double> training = run(1);
  random_ = training != run(2);
  const std::unique_ptr<Module> evaluated = moved(Dtype::f64, false);
  const std::vector<double> evaluation = call(*evaluated, input()).to_vector<double>();
  same_in_evaluation_ = evaluation == training;
  dropped_ = 0;
  size_t zeros = 0;
  for (size_t i = 0; i < training.size() && training.size() == evaluation.size(); ++i) {
    if (evaluation[i] == 0) continue;
    const double ratio = training[i] / evaluation[i];
    zeros += ratio == 0;
    if (ratio == 0) continue;
    if (dropped_ == 0) dropped_ = ratio;
    if (std::abs(ratio - dropped_) > 1e-9 * ratio) dropped_ = INFINITY;
  }
  if (!(zeros > 0 && dropped_ > 1 && std::isfinite(dropped_))) dropped_ = 0;
}

// A pair of rows that meet, as in (N) − (N, 1), takes memory that two sizes tell from that of rows.
void LayerRunner::measure_growth() {
  if (!options_.batch) return;
  const int64_t rows = batch() * ((63 + batch()) / batch());
  const auto bytes_of = [&](int64_t count) {
    const Inputs x = this->rows(count);
    const std::unique_ptr<Module> module = moved();
    memory::reset_peak();
    const size_t before = memory::stats().bytes_in_use;
    output(*module, x);
    return static_cast<double>(memory::stats().peak_bytes - before);
  };
  const double once = bytes_of(rows), twice = bytes_of(2 * rows);
  square_bytes_ = std::max(0.0, (twice - 2 * once) / (2.0 * static_cast<double>(rows * rows)));
}

LayerRunner::Function LayerRunner::function(const Inputs& x, bool training, const LayerCall& call) const {
  const std::shared_ptr<Module> module = moved(Dtype::f64, training);
  std::vector<NamedInput> inputs;
  for (size_t i = 0; i < x.size(); ++i) inputs.push_back({name_of_input(i), x[i]});
  for (const NamedTensor& parameter : named_parameters(*module))
    inputs.push_back({parameter.name, clone(parameter.tensor.detach())});
  const auto current = std::make_shared<std::vector<Tensor>>(parameters(*module));
  const auto f = [this, module, current, call,
                  count = static_cast<std::ptrdiff_t>(x.size())](const std::vector<Tensor>& in) {
    if (options_.stateful && module->training()) reset_state(*module);
    const std::vector<Tensor> given(in.begin() + count, in.end());
    visit_tensors(*module, [&](const std::string&, Tensor& tensor, bool) {
      const auto same = [&](const Tensor& one) { return one.id() == tensor.id(); };
      const auto at = std::find_if(current->begin(), current->end(), same);
      if (at != current->end()) tensor = given[static_cast<size_t>(at - current->begin())];
    });
    *current = given;
    const Inputs first(in.begin(), in.begin() + count);
    return call != nullptr ? call(*module, first) : (*module)(first[0]);
  };
  return {f, inputs};
}

// The layer as a function of one number: how far all its inputs and parameters have moved along a direction.
TensorFunction LayerRunner::line(const Inputs& x) const {
  const Function layer = function(x, !random_, options_.call);
  std::vector<Tensor> directions;
  for (const NamedInput& one : layer.inputs) {
    if (!is_float(one.value.dtype())) {
      directions.emplace_back();
      continue;
    }
    const double size = std::max(1.0, largest_of(one.value.to_vector<double>()));
    directions.push_back(Rng(12).split(one.name).normal(one.value.shape(), 0, size, Dtype::f64));
  }
  return [layer, directions](const std::vector<Tensor>& distance) {
    std::vector<Tensor> in;
    for (size_t i = 0; i < directions.size(); ++i) {
      const Tensor& from = layer.inputs[i].value;
      in.push_back(directions[i].defined() ? from + directions[i] * distance[0] : from);
    }
    return layer.f(in);
  };
}

std::vector<Jacobian> LayerRunner::jacobians(const Inputs& x, bool training) const {
  const Function layer = function(x, training, options_.call);
  JacobianOptions options{.tolerance = options_.tolerance, .in_f32 = in_f32_};
  if (options_.expected != nullptr) options.expected = function(x, training, options_.expected).f;
  return isobar::jacobians(layer.f, layer.inputs, options);
}

bool LayerRunner::smooth(const Inputs& x) const {
  return gradcheck(line(x), {zeros({}, Dtype::f64)}).max_relative_error <= options_.tolerance;
}

std::string LayerRunner::wrong_gradient(const Inputs& x) const {
  if (smooth(x)) return "";
  for (const Jacobian& j : jacobians(x, !random_)) {
    if (j.right(options_.tolerance) || !j.compared) continue;
    const std::string cause = diagnose(j, options_.tolerance).text;
    if (j.worst.empty()) return cause;
    const GradientEntry& worst = j.worst.front();
    return fmt::format("gradient of {} {}: wanted {:.6g}, got {:.6g}; {}", j.name, worst.index, worst.numeric,
                       worst.tape, cause);
  }
  return "";
}

std::string LayerRunner::wrong_second_derivative() const {
  const GradcheckReport found =
      gradcheck(line(input()), {zeros({}, Dtype::f64)}, {.order = 2, .element_limit = 1, .directions = 1});
  if (found.max_relative_error <= 1e-5) return "";
  return fmt::format("along a random direction: wanted {:.6g}, got {:.6g}", found.numeric, found.analytic);
}

}  // namespace isobar
