#include "layer_trial.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "../../autograd/inspect.h"
#include "../../autograd/recompute.h"
#include "../../autograd/tape.h"
#include "../../core/raw.h"
#include "../../core/rng.h"
#include "../model.h"
#include "../observe.h"

namespace isobar {
namespace {

const Rng draws(11);

Tensor upstream(const Tensor& y) { return draws.split("dy").normal(y.shape(), 0, 1, y.dtype()); }

// The same values as a strided tensor: every second element of a larger block.
Tensor spread(const Tensor& x) {
  std::vector<double> values;
  for (double v : x.to_vector<double>()) values.insert(values.end(), {v, -7});
  Strides strides = x.shape().strides();
  for (int64_t& stride : strides) stride *= 2;
  return raw::as_strided(cast(tensor(Shape{2 * x.numel()}, values), x.dtype()), x.shape(), strides);
}

// `count` rows: the rows of x, repeated in order.
Tensor with_rows(const Tensor& x, int64_t count) {
  const int64_t width = x.numel() / x.size(0);
  const std::vector<double> values = x.to_vector<double>();
  std::vector<double> result(count * width);
  for (size_t i = 0; i < result.size(); ++i) result[i] = values[i % values.size()];
  return cast(tensor(x.shape().with(0, count), result), x.dtype());
}

}  // namespace

Tensor broadcast(const Tensor& dy) {
  std::vector<double> values(dy.numel(), -7);  // what a backward that ignores strides reads
  if (!values.empty()) values[0] = 1;
  return raw::as_strided(cast(tensor(Shape{dy.numel()}, values), dy.dtype()), dy.shape(), Strides{});
}

Tensor transposed(const Tensor& dy) { return dy.ndim() < 2 ? dy : transpose(raw::contiguous(transpose(dy))); }

std::unique_ptr<Module> LayerTrial::made() const {
  std::unique_ptr<Module> module = make_();
  check(module != nullptr, "the maker returned null; return std::make_unique<YourLayer>(...)");
  return module;
}

std::unique_ptr<Module> LayerTrial::moved(Dtype dtype, bool training) const {
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

LayerTrial::Inputs LayerTrial::input(Dtype dtype) const {
  Inputs result;
  for (const Tensor& x : x_) result.push_back(is_float(x.dtype()) ? cast(x, dtype) : clone(x));
  return result;
}

LayerTrial::Inputs LayerTrial::spread_input() const {
  Inputs result;
  for (const Tensor& x : input()) result.push_back(spread(x));
  return result;
}

LayerTrial::Inputs LayerTrial::rows(int64_t count) const {
  Inputs result = input();
  for (Tensor& x : result)
    if (is_batch(x)) x = with_rows(x, count);
  return result;
}

LayerTrial::Inputs LayerTrial::other_rows(int64_t count) const {
  Inputs result = rows(count);
  for (Tensor& x : result) {
    std::vector<double> values = x.to_vector<double>();
    if (is_float(x.dtype()))
      std::reverse(values.begin(), values.end());
    else if (x.ndim() > 0 &&
             x.size(0) == count)  // whole rows, because columns of indices may differ in range
      std::rotate(values.begin(), values.begin() + x.numel() / count, values.end());
    x = cast(tensor(x.shape(), values), x.dtype());
  }
  return result;
}

LayerTrial::Inputs LayerTrial::enlarged(int64_t elements) const {
  const int64_t width = std::max<int64_t>(1, x_[0].numel() / x_[0].size(0));
  Inputs result = rows(std::max(batch(), elements / width));
  for (Tensor& x : result)
    if (is_float(x.dtype())) x = cast(x, Dtype::f32);
  return result;
}

std::string LayerTrial::name_of_input(size_t i) const {
  return x_.size() == 1 ? "x" : fmt::format("x[{}]", i);
}

Tensor LayerTrial::call(Module& module, const Inputs& x) const {
  return options_.call != nullptr ? options_.call(module, x) : module(x[0]);
}

Tensor LayerTrial::output(Module& module, const Inputs& x) const {
  const Tape tape({.rng = Rng(3)});
  return call(module, x).detach();
}

LayerStep LayerTrial::step(Module& module, const Inputs& input, const StepOptions& options) const {
  Inputs x;
  std::vector<NamedTensor> leaves, buffers;
  for (size_t i = 0; i < input.size(); ++i) {
    x.push_back(input[i].detach());
    if (is_float(x[i].dtype())) leaves.push_back({name_of_input(i), x[i].set_trainable()});
  }
  for (const NamedTensor& entry : named_state(module))
    (entry.tensor.trainable() ? leaves : buffers).push_back(entry);
  for (const NamedTensor& leaf : leaves) leaf.tensor.clear_grad();
  LayerStep result;
  Tape tape({.higher_order = options.higher_order, .rng = Rng(3)});
  const auto rest = [&](const Tensor& first) {
    Inputs all = x;
    all[0] = first;
    return call(module, all);
  };
  const Tensor y = options.recompute ? recompute(rest, x[0]) : call(module, x);
  const Tensor dy = options.dy.defined() ? options.dy : upstream(y);
  const std::vector<double> before = dy.to_vector<double>();
  result.idle = idle_ops(tape, y);
  if (tape.needs_gradient(y)) tape.backward(y, dy);
  result.dy_kept = dy.to_vector<double>() == before;
  result.y = y.detach();
  result.values.push_back({"y", result.y});
  for (const NamedTensor& leaf : leaves) {
    const Tensor& dx = leaf.tensor.grad();
    result.values.push_back({"gradient of " + leaf.name,
                             dx.defined() ? dx.detach() : zeros(leaf.tensor.shape(), leaf.tensor.dtype())});
    leaf.tensor.clear_grad();
  }
  for (const NamedTensor& buffer : buffers) result.values.push_back({buffer.name, clone(buffer.tensor)});
  return result;
}

std::string LayerTrial::compare_rows(int64_t count) const {
  const auto run = [&](int64_t rows_in, const Tensor& dy) {
    const Tensor repeated = dy.defined() ? with_rows(dy, rows_in) : dy;
    return step(*moved(Dtype::f64, !random_), rows(rows_in), {.dy = repeated});
  };
  const LayerStep small = run(batch(), {});
  if (!is_batch(small.y)) return fmt::format("y {} does not keep the batch", small.y.shape());
  const Tensor dy = upstream(small.y);
  const LayerStep large = run(count, dy), rest = run(count % batch(), dy);
  std::vector<NamedTensor> got, wanted;
  const Inputs x = input();
  const auto add = [&](size_t t, bool by_row) {
    const Tensor& one = small.values[t].tensor;
    got.push_back(large.values[t]);
    wanted.push_back(
        {got.back().name, by_row ? with_rows(one, count)
                                 : one * static_cast<double>(count / batch()) + rest.values[t].tensor});
  };
  size_t t = 0;
  add(t++, true);
  for (const Tensor& one : x)
    if (is_float(one.dtype())) add(t++, is_batch(one));
  const size_t parameters = isobar::parameters(*made()).size();
  for (size_t end = t + parameters; t < end; ++t) add(t, false);
  return difference(got, wanted, 1e-9);
}

std::string LayerTrial::compare_two_uses() const {
  const std::unique_ptr<Module> module =
      moved(Dtype::f64, false);  // in training, two calls draw different masks
  // The second batch starts at the second row of the first.
  const Inputs first = input();
  Inputs second = rows(batch() + 1);
  for (size_t i = 0; i < second.size(); ++i)
    if (second[i].shape() != first[i].shape()) second[i] = clone(slice(second[i], 0, 1, second[i].size(0)));
  const LayerStep a = step(*module, first), b = step(*module, second);

  const std::vector<NamedTensor> parameters = named_parameters(*module);
  Tape tape;
  const Tensor y = call(*module, first), z = call(*module, second);
  if (parameters.empty() || !tape.needs_gradient(y)) return "";
  tape.backward(y * upstream(y) + z * upstream(z), ones(y.shape(), y.dtype()));
  std::string wrong;
  for (const NamedTensor& parameter : parameters) {
    const std::string name = "gradient of " + parameter.name;
    const Tensor &leaf = parameter.tensor, one = a[name], other = b[name];
    const Tensor sum = leaf.grad().defined() ? leaf.grad().detach() : zeros(leaf.shape(), leaf.dtype());
    const auto apart = [&](const Tensor& wanted) {
      return difference({{name, sum}}, {{name, wanted}}, 1e-12);
    };
    const std::string found = apart(one + other);
    if (wrong.empty() && !found.empty())
      wrong = fmt::format(
          "{}: overwritten instead of accumulated: two calls on one tape give {} ({}); does forward keep "
          "something in the layer that the next call overwrites, or backward set grad() itself?",
          parameter.name,
          apart(one).empty() || apart(other).empty() ? "the gradient of one of them"
                                                     : "another gradient than their sum",
          found);
    leaf.clear_grad();
  }
  return wrong;
}

bool LayerTrial::unused(const std::string& name) const {
  bool parameter = false;
  for (const bool training : {true, false})
    for (const Inputs& x : {input(), normal_input()}) {
      const std::unique_ptr<Module> module = moved(Dtype::f64, training);
      Tape tape({.rng = Rng(3)});
      call(*module, x);
      for (const NamedTensor& one : named_parameters(*module)) {
        parameter |= one.name == name;
        for (const Tensor& leaf : tape.leaves())
          if (one.name == name && one.tensor.id() == leaf.id()) return false;
      }
    }
  return parameter;
}

std::string LayerTrial::stray_leaf(Module& module) const {
  Tape tape({.rng = Rng(3)});
  try {
    call(module, input(Dtype::f32));
  } catch (const Error&) {
    return "";  // the forward check reports it
  }
  std::set<const void*> listed;
  for (const NamedTensor& parameter : named_parameters(module)) listed.insert(parameter.tensor.id());
  for (const Tensor& leaf : tape.leaves())
    if (!listed.contains(leaf.id()))
      return fmt::format(
          "forward uses a trainable tensor {} that fields() does not list: it is neither trained nor saved",
          leaf.shape());
  return "";
}

LayerTrial::Inputs LayerTrial::normal_input() const {
  Inputs x = enlarged(1 << 14);
  for (size_t i = 0; i < x.size(); ++i)
    if (is_float(x[i].dtype()))
      x[i] =
          draws.split(i == 0 ? "signal" : fmt::format("signal {}", i)).normal(x[i].shape(), 0, 1, Dtype::f64);
  return x;
}

LayerSignal LayerTrial::signal() const {
  if (!is_float(x_[0].dtype())) return {std::nan(""), std::nan("")};
  const std::unique_ptr<Module> module = made();
  convert(*module, Dtype::f64);
  const Inputs x = normal_input();
  const LayerStep found = step(*module, x);
  return {moments_of(found.y).std / moments_of(x[0]).std,
          moments_of(found.values[1].tensor).rms / moments_of(upstream(found.y)).rms};
}

void LayerTrial::compare_modes() {
  const std::unique_ptr<Module> module = moved();
  const auto run = [&](uint64_t seed) {
    Tape tape({.rng = Rng(seed)});
    return call(*module, input()).to_vector<double>();
  };
  const std::vector<double> training = run(1);
  random_ = training != run(2);
  const std::unique_ptr<Module> evaluated = moved(Dtype::f64, false);
  same_in_evaluation_ = call(*evaluated, input()).to_vector<double>() == training;
}

}  // namespace isobar
