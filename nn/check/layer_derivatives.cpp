// The part of LayerTrial that compares gradients with differences.
#include "../../autograd/diagnosis/differences.h"
#include "../../autograd/gradcheck.h"
#include "../../autograd/jacobian.h"
#include "../../core/rng.h"
#include "../model.h"
#include "layer_trial.h"

namespace isobar {
namespace {

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

}  // namespace

LayerTrial::Function LayerTrial::function(const Inputs& x, bool training, const LayerCall& call) const {
  const std::shared_ptr<Module> module = moved(Dtype::f64, training);
  std::vector<NamedInput> inputs;
  for (size_t i = 0; i < x.size(); ++i) inputs.push_back({name_of_input(i), x[i]});
  for (const NamedTensor& parameter : named_parameters(*module))
    inputs.push_back({parameter.name, clone(parameter.tensor.detach())});
  const auto current = std::make_shared<std::vector<Tensor>>(parameters(*module));
  const auto f = [module, current, call,
                  count = static_cast<std::ptrdiff_t>(x.size())](const std::vector<Tensor>& in) {
    const std::vector<Tensor> given(in.begin() + count, in.end());
    Replace visitor(*current, given);
    module->fields(visitor);
    *current = given;
    const Inputs first(in.begin(), in.begin() + count);
    return call != nullptr ? call(*module, first) : (*module)(first[0]);
  };
  return {f, inputs};
}

// The layer as a function of one number: how far all its inputs and parameters have moved along a direction.
TensorFunction LayerTrial::line(const Inputs& x) const {
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

std::vector<Jacobian> LayerTrial::jacobians(const Inputs& x, bool training) const {
  const Function layer = function(x, training, options_.call);
  JacobianOptions options{.tolerance = options_.tolerance};
  if (options_.expected != nullptr) options.expected = function(x, training, options_.expected).f;
  return isobar::jacobians(layer.f, layer.inputs, options);
}

std::string LayerTrial::wrong_gradient(const Inputs& x) const {
  if (gradcheck(line(x), {zeros({}, Dtype::f64)}).max_relative_error <= options_.tolerance) return "";
  for (const Jacobian& j : jacobians(x, !random_)) {
    if (j.right(options_.tolerance)) continue;
    const std::string cause = diagnose(j, options_.tolerance).text;
    if (j.worst.empty()) return cause;
    const GradientEntry& worst = j.worst.front();
    return fmt::format("gradient of {} {}: wanted {:.6g}, got {:.6g}; {}", j.name, worst.index, worst.numeric,
                       worst.tape, cause);
  }
  return "";
}

std::string LayerTrial::wrong_second_derivative() const {
  const GradcheckReport found =
      gradcheck(line(input()), {zeros({}, Dtype::f64)}, {.order = 2, .element_limit = 1, .directions = 1});
  if (found.max_relative_error <= 1e-5) return "";
  return fmt::format("along a random direction: wanted {:.6g}, got {:.6g}", found.numeric, found.analytic);
}

}  // namespace isobar
