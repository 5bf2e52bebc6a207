#include "measure.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "net.h"

namespace isobar::decay {
namespace {

// Keeps moments and gradient norms of every module's output; the std across the batch of every layer's; and
// the share along 1 of every layer's and every W1's.
class SignalProbe : public Probe {
 public:
  explicit SignalProbe(const Net& net) {
    for (const Layer& layer : net.layers) {
      layers_.insert(layer.whole.get());
      along_one[layer.linear1] = 0;
    }
  }

  std::vector<double> across_batch_std;
  std::map<const Module*, double> along_one;

  void on_output(const Module& module, const Tensor& y) override {
    Probe::on_output(module, y);
    const bool layer = layers_.contains(&module);
    if (!layer && !along_one.contains(&module)) return;
    along_one[&module] = share_along_one(y);
    if (layer) across_batch_std.push_back(mean(sqrt(var(cast(y, Dtype::f64), {0}))).item());
  }

 private:
  std::set<const Module*> layers_;
};

Tensor loss_of(const std::string& name, const Tensor& y, const Rng& rng) {
  if (name == "sum") return sum(y);
  if (name == "mean") return mean(y);
  check(name == "random", "loss: unknown name '{}'", name);
  return sum(rng.normal(y.shape(), 0, 1, y.dtype()) * y);
}

}  // namespace

Signals measure(const Config& config, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const Tensor x = rng.split("x").normal({config.batch, config.width}, 0, 1, config.element_type());
  Net net(config, rng.split("net"));

  SignalProbe probe(net);
  {
    const Watch watching(net, probe);
    Tape tape;
    const Tensor loss = loss_of(config.loss, net(x), rng.split("loss"));
    tape.backward(loss);
  }

  Signals signals{.input_std = moments_of(x).std, .layers = {}};
  for (size_t i = 0; i < net.layers.size(); ++i) {
    const Layer& layer = net.layers[i];
    const ModuleSignal& output = *probe.find(layer.whole->path());
    const ModuleSignal& after_linear = *probe.find(layer.linear1->path());
    signals.layers.push_back({
        .linear_std = after_linear.output.std,
        .norm_std = config.norm == "none" ? std::numeric_limits<double>::quiet_NaN()
                                          : probe.find(layer.norm->path())->output.std,
        .relu_std = probe.find(layer.relu->path())->output.std,
        .output_std = output.output.std,
        .linear_mean = after_linear.output.mean,
        .output_mean = output.output.mean,
        .linear_along_one = probe.along_one.at(layer.linear1),
        .output_along_one = probe.along_one.at(layer.whole.get()),
        .across_batch_std = probe.across_batch_std[i],
        .weight_gradient_norm = moments_of(layer.linear1->weight.grad()).norm,
        .output_gradient_norm = output.gradient_norm,
    });
  }
  return signals;
}

std::vector<double> layer_values(const std::vector<Signals>& runs, size_t layer,
                                 double LayerSignal::*quantity) {
  return values_of(runs, [&](const Signals& run) { return run.layers[layer].*quantity; });
}

Spread layer_spread(const std::vector<Signals>& runs, size_t layer, double LayerSignal::*quantity) {
  return spread_of(layer_values(runs, layer, quantity));
}

}  // namespace isobar::decay
