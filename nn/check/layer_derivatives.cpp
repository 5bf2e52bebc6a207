// The part of LayerTrial that compares gradients with differences.
#include "../../autograd/gradcheck.h"
#include "../../autograd/jacobian.h"
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

std::vector<Tensor> LayerTrial::Function::values() const {
  std::vector<Tensor> result;
  for (const NamedInput& one : inputs) result.push_back(one.value);
  return result;
}

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

std::vector<Jacobian> LayerTrial::jacobians(const Inputs& x, bool training, double tolerance) const {
  const Function layer = function(x, training, options_.call);
  JacobianOptions options{.tolerance = tolerance};
  if (options_.expected != nullptr) options.expected = function(x, training, options_.expected).f;
  return isobar::jacobians(layer.f, layer.inputs, options);
}

std::string LayerTrial::wrong_gradient(const Inputs& x, double tolerance) const {
  const Function layer = function(x, !random_, options_.call);
  const auto is_float_input = [](const NamedInput& one) { return is_float(one.value.dtype()); };
  if (std::none_of(layer.inputs.begin(), layer.inputs.end(), is_float_input)) return "";
  const GradcheckOptions once{.element_limit = 0, .directions = 1};
  if (options_.expected == nullptr &&
      gradcheck(layer.f, layer.values(), once).max_relative_error <= tolerance)
    return "";
  for (const Jacobian& j : jacobians(x, !random_, tolerance)) {
    if (j.right(tolerance)) continue;
    const std::string cause = diagnose(j, tolerance).text;
    if (j.worst.empty()) return cause;
    const GradientEntry& worst = j.worst.front();
    return fmt::format("gradient of {} {}: wanted {:.6g}, got {:.6g}; {}", j.name, worst.index, worst.numeric,
                       worst.tape, cause);
  }
  return "";
}

std::string LayerTrial::wrong_second_derivative(double tolerance) const {
  const Function layer = function(input(), !random_, options_.call);
  const GradcheckReport found =
      gradcheck(layer.f, layer.values(), {.order = 2, .element_limit = 0, .directions = 1});
  if (found.max_relative_error <= tolerance) return "";
  const std::string by = found.input < layer.inputs.size() ? layer.inputs[found.input].name : "dy";
  return fmt::format("by {}, along a random direction: wanted {:.6g}, got {:.6g}", by, found.numeric,
                     found.analytic);
}

}  // namespace isobar
