#include "layer_trial.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "../../autograd/jacobian.h"
#include "../../autograd/recompute.h"
#include "../../autograd/tape.h"
#include "../../core/raw.h"
#include "../../core/rng.h"
#include "../model.h"
#include "../observe.h"

namespace isobar {
namespace {

const Rng draws(11);

// Replaces a module's parameters by other tensors, tied ones included.
class Replace : public Fields {
 public:
  Replace(const std::vector<Tensor>& from, const std::vector<Tensor>& to) : from_(from), to_(to) {}

 protected:
  void on_parameter(std::string_view, Tensor& tensor) override {
    for (size_t i = 0; i < from_.size(); ++i)
      if (from_[i].id() == tensor.id()) {
        tensor = to_[i];
        return;
      }
  }
  void on_part(std::string_view, HasFields& part) override { part.fields(*this); }

 private:
  std::vector<Tensor> from_, to_;
};

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

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

std::vector<double> LayerStep::numbers() const {
  std::vector<double> all = y.to_vector<double>();
  for (const Tensor& gradient : gradients) {
    const std::vector<double> values = gradient.to_vector<double>();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

double LayerStep::distance(const LayerStep& other) const {
  std::vector<Tensor> mine = gradients, theirs = other.gradients;
  mine.push_back(y);
  theirs.push_back(other.y);
  double worst = 0;
  for (size_t t = 0; t < mine.size(); ++t) {
    const std::vector<double> a = mine[t].to_vector<double>(), b = theirs[t].to_vector<double>();
    // The lower limit is for a gradient that cancels to rounding errors, such as LayerNorm's for a constant
    // dy.
    const double size = std::max({largest_of(a), largest_of(b), 0.05});
    for (size_t i = 0; i < a.size(); ++i) {
      const double apart = std::abs(a[i] - b[i]) / size;
      worst = std::isfinite(apart) ? std::max(worst, apart) : INFINITY;
    }
  }
  return worst;
}

bool LayerStep::y_finite() const { return all_finite(y); }
bool LayerStep::gradients_finite() const {
  return std::all_of(gradients.begin(), gradients.end(), all_finite);
}

std::unique_ptr<Module> LayerTrial::moved(Dtype dtype) const {
  std::unique_ptr<Module> module = make_();
  convert(*module, Dtype::f64);
  for (auto& [name, parameter] : named_parameters(*module)) {
    const Tensor noise = draws.split(name).normal(parameter.shape(), 0, 0.2, Dtype::f64);
    assign(parameter, parameter.detach() + noise);
  }
  convert(*module, dtype);
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
    if (x.ndim() > 0 && x.size(0) == x_[0].size(0)) x = with_rows(x, count);
  return result;
}

LayerTrial::Inputs LayerTrial::enlarged(int64_t elements) const {
  const int64_t width = std::max<int64_t>(1, x_[0].numel() / x_[0].size(0));
  Inputs result = rows(std::max(x_[0].size(0), elements / width));
  for (Tensor& x : result)
    if (is_float(x.dtype())) x = cast(x, Dtype::f32);
  return result;
}

std::string LayerTrial::name_of_input(size_t i) const {
  return x_.size() == 1 ? "x" : fmt::format("x[{}]", i);
}

Tensor LayerTrial::call(Module& module, const Inputs& x) const {
  return call_ != nullptr ? call_(module, x) : module(x[0]);
}

Tensor LayerTrial::output(Module& module, const Inputs& x) const {
  const Tape tape({.rng = Rng(3)});
  return call(module, x).detach();
}

LayerStep LayerTrial::step(Module& module, const Inputs& x) const {
  return step_of(module, x, [&](const Inputs& leaves) { return call(module, leaves); });
}

LayerStep LayerTrial::recomputed_step(Module& module, const Inputs& x) const {
  return step_of(module, x, [&](const Inputs& leaves) {
    const auto forward = [this, &module, leaves](const Tensor& first) {
      Inputs all = leaves;
      all[0] = first;
      return call(module, all);
    };
    return recompute(forward, leaves[0]);
  });
}

LayerStep LayerTrial::step_of(Module& module, const Inputs& input,
                              const std::function<Tensor(const Inputs&)>& forward) const {
  Inputs x;
  for (const Tensor& one : input) {
    x.push_back(one.detach());
    if (is_float(one.dtype())) x.back().set_trainable();
  }
  const std::vector<Tensor> parameters = isobar::parameters(module);
  clear_gradients(parameters);
  LayerStep result;
  Tape tape({.rng = Rng(3)});
  const Tensor y = forward(x);
  const Tensor dy = upstream(y);
  const std::vector<double> before = dy.to_vector<double>();
  if (tape.needs_gradient(y)) tape.backward(y, dy);
  result.dy_kept = dy.to_vector<double>() == before;
  result.y = y.detach();
  const auto take = [&](const Tensor& leaf) {
    result.gradients.push_back(leaf.grad().defined() ? leaf.grad() : zeros(leaf.shape(), leaf.dtype()));
  };
  for (const Tensor& one : x)
    if (one.trainable()) take(one);
  for (const Tensor& parameter : parameters) take(parameter);
  clear_gradients(parameters);
  return result;
}

std::vector<Jacobian> LayerTrial::jacobians(bool training, double tolerance) const {
  const std::unique_ptr<Module> module = moved();
  if (!training) eval(*module);
  std::vector<NamedInput> inputs;
  const Inputs example = input();
  for (size_t i = 0; i < example.size(); ++i) inputs.push_back({name_of_input(i), example[i]});
  for (const NamedTensor& parameter : named_parameters(*module))
    inputs.push_back({parameter.name, clone(parameter.tensor.detach())});
  std::vector<Tensor> current = parameters(*module);
  const TensorFunction f = [&](const std::vector<Tensor>& in) {
    const auto first_parameter = in.begin() + static_cast<std::ptrdiff_t>(x_.size());
    const std::vector<Tensor> given(first_parameter, in.end());
    Replace visitor(current, given);
    module->fields(visitor);
    current = given;
    return call(*module, Inputs(in.begin(), first_parameter));
  };
  return isobar::jacobians(f, inputs, {.tolerance = tolerance});
}

std::string LayerTrial::compare_two_uses() const {
  const std::unique_ptr<Module> module = moved();
  eval(*module);  // in training, two calls draw different masks
  // The second batch starts at the second row of the first.
  const Inputs first = input();
  Inputs second = rows(first[0].size(0) + 1);
  for (size_t i = 0; i < second.size(); ++i)
    if (second[i].shape() != first[i].shape()) second[i] = clone(slice(second[i], 0, 1, second[i].size(0)));
  const LayerStep a = step(*module, first), b = step(*module, second);

  const std::vector<NamedTensor> parameters = named_parameters(*module);
  Tape tape;
  const Tensor y = call(*module, first), z = call(*module, second);
  if (parameters.empty() || !tape.needs_gradient(y)) return "";
  tape.backward(y * upstream(y) + z * upstream(z), ones(y.shape(), y.dtype()));
  const size_t skip = a.gradients.size() - parameters.size();  // gradients of the inputs come first
  std::string wrong;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Tensor& leaf = parameters[i].tensor;
    const Tensor sum = leaf.grad().defined() ? leaf.grad() : zeros(leaf.shape(), leaf.dtype());
    const auto is = [&](const Tensor& wanted) {
      return LayerStep{sum, {}}.distance(LayerStep{wanted, {}}) <= 1e-12;
    };
    const Tensor &one = a.gradients[i + skip], &other = b.gradients[i + skip];
    if (wrong.empty() && !is(one.detach() + other.detach()))
      wrong = fmt::format(
          "{}: overwritten instead of accumulated: two calls on one tape give {}; does forward keep "
          "something in the "
          "layer that the next call overwrites, or backward set grad() itself?",
          parameters[i].name,
          is(one) || is(other) ? "the gradient of one of them" : "another gradient than their sum");
  }
  for (const NamedTensor& parameter : parameters) parameter.tensor.clear_grad();
  return wrong;
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

LayerSignal LayerTrial::signal() const {
  if (!is_float(x_[0].dtype())) return {std::nan(""), std::nan("")};
  const std::unique_ptr<Module> module = make_();
  convert(*module, Dtype::f64);
  Inputs x = enlarged(1 << 14);
  for (size_t i = 0; i < x.size(); ++i)
    if (is_float(x[i].dtype()))
      x[i] =
          draws.split(i == 0 ? "signal" : fmt::format("signal {}", i)).normal(x[i].shape(), 0, 1, Dtype::f64);
  const LayerStep found = step(*module, x);
  return {moments_of(found.y).std / moments_of(x[0]).std,
          moments_of(found.gradients[0]).rms / moments_of(upstream(found.y)).rms};
}

void LayerTrial::compare_modes() {
  const std::unique_ptr<Module> module = moved();
  const auto run = [&](uint64_t seed) {
    Tape tape({.rng = Rng(seed)});
    return call(*module, input()).to_vector<double>();
  };
  const std::vector<double> training = run(1);
  random_ = training != run(2);
  const std::unique_ptr<Module> evaluated = moved();
  eval(*evaluated);
  same_in_evaluation_ = call(*evaluated, input()).to_vector<double>() == training;
}

}  // namespace isobar
