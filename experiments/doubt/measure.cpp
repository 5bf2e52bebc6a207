#include "measure.h"

#include <algorithm>

#include "../../core/serial_loops.h"
#include "../nets/decay/net.h"
#include "../nets/decay/overflow.h"
#include "../nets/decay/theory.h"

namespace isobar::doubt {
namespace {

// Keeps what is asked of some modules: the moments of their outputs, and the norms of the gradients there.
class Asked : public Observer {
 public:
  void ask(const Module* module) { seen_[module] = {}; }
  void on_output(const Module& module, const Tensor& y) override {
    if (const auto seen = seen_.find(&module); seen != seen_.end()) seen->second.output = moments_of(y);
  }
  void on_output_gradient(const Module& module, const Tensor& dy) override {
    if (const auto seen = seen_.find(&module); seen != seen_.end())
      seen->second.gradient = moments_of(dy).norm;
  }
  const Moments& output(const Module* module) const { return seen_.at(module).output; }
  double gradient(const Module* module) const { return seen_.at(module).gradient; }

 private:
  struct Seen {
    Moments output;
    double gradient = 0;
  };
  std::map<const Module*, Seen> seen_;
};

const Module* module_of(const decay::Net& net, const Number& number) {
  const decay::Layer& layer = net.layers[static_cast<size_t>(number.layer - 1)];
  if (number.quantity == Quantity::linear_std) return layer.linear1;
  if (number.quantity == Quantity::norm_std) return layer.norm;
  return layer.whole.get();
}

// Layers that no number depends on are left out, where the others do not depend on how many there are.
decay::Config shortened(decay::Config net, std::span<const Number> numbers) {
  const bool backward = std::ranges::any_of(numbers, is_gradient, &Number::quantity);
  if (backward || net.topology == "skipinit" || net.topology == "fixup") return net;
  net.depth = std::max<int64_t>(1, std::ranges::max(numbers, {}, &Number::layer).layer);
  return net;
}

double value_of(const Number& number, double input_std, const decay::Net& net, const Asked& asked) {
  switch (number.quantity) {
    case Quantity::input_std:
      return input_std;
    case Quantity::mean:
      return asked.output(module_of(net, number)).mean;
    case Quantity::weight_gradient_norm: {
      const decay::Layer& layer = net.layers[static_cast<size_t>(number.layer - 1)];
      return decay::overflow_as_infinity(moments_of(layer.linear1->weight.grad()).norm);
    }
    case Quantity::output_gradient_norm:
      return decay::overflow_as_infinity(asked.gradient(module_of(net, number)));
    default:
      return decay::overflow_as_infinity(asked.output(module_of(net, number)).std);
  }
}

}  // namespace

std::vector<double> measured(const decay::Config& config, std::span<const Number> numbers, int64_t seed) {
  const decay::Config net_config = shortened(config, numbers);
  const Rng rng(static_cast<uint64_t>(seed));
  const Tensor x = rng.split("x").normal({config.batch, config.width}, 0, 1, config.element_type());
  decay::Net net(net_config, rng.split("net"));
  Asked asked;
  for (const Number& number : numbers)
    if (number.layer > 0) asked.ask(module_of(net, number));
  {
    const Watch watching(net, asked);
    if (std::ranges::any_of(numbers, is_gradient, &Number::quantity)) {
      Tape tape;
      tape.backward(decay::loss_of(config.loss, net(x), rng.split("loss")));
    } else {
      net(x);
    }
  }
  const double input_std = moments_of(x).std;
  std::vector<double> values;
  for (const Number& number : numbers) values.push_back(value_of(number, input_std, net, asked));
  return values;
}

std::vector<std::vector<double>> measured(const decay::Config& net, std::span<const Number> numbers,
                                          int64_t first, int64_t seeds) {
  std::vector<std::vector<double>> values(static_cast<size_t>(seeds));
  parallel_tasks(seeds,
                 [&](int64_t i) { values[static_cast<size_t>(i)] = measured(net, numbers, first + i); });
  return values;
}

std::vector<double> closed_form(const decay::Config& net, std::span<const Number> numbers) {
  const std::vector<decay::LayerTheory> theory = decay::theory_of(net);
  std::vector<double> medians;
  for (const Number& number : numbers) {
    double median = std::numeric_limits<double>::quiet_NaN();
    if (number.quantity == Quantity::input_std) median = 1;
    if (number.quantity == Quantity::std)
      median = theory[static_cast<size_t>(number.layer - 1)].output_std.median;
    if (number.quantity == Quantity::weight_gradient_norm)
      median = theory[static_cast<size_t>(number.layer - 1)].weight_gradient_norm.median;
    medians.push_back(median);
  }
  return medians;
}

}  // namespace isobar::doubt
