#include "measure.h"

namespace isobar::decay {

Tensor loss_of(const std::string& name, const Tensor& y, const Rng& rng) {
  if (name == "sum") return sum(y);
  if (name == "mean") return mean(y);
  return sum(rng.normal(y.shape(), 0, 1, y.dtype()) * y);
}

SignalProbe::SignalProbe(const Net& net) : net_(net) {
  for (const Layer& layer : net.layers) {
    layers_.insert(layer.whole.get());
    along_one_[layer.linear1] = 0;
  }
}

void SignalProbe::on_output(const Module& module, const Tensor& y) {
  Probe::on_output(module, y);
  const bool layer = layers_.contains(&module);
  if (!layer && !along_one_.contains(&module)) return;
  along_one_[&module] = mean_alignment(y);
  if (layer) across_batch_std_.push_back(mean(sqrt(var(cast(y, Dtype::f64), {0}))).item());
}

std::vector<LayerSignal> SignalProbe::layers() const {
  std::vector<LayerSignal> layers;
  for (const Layer& layer : net_.layers) {
    const ModuleSignal& output = *find(layer.whole->path());
    const ModuleSignal& after_linear = *find(layer.linear1->path());
    layers.push_back({
        .linear_std = after_linear.output.std,
        .norm_std = layer.norm == nullptr ? std::numeric_limits<double>::quiet_NaN()
                                          : find(layer.norm->path())->output.std,
        .relu_std = find(layer.relu->path())->output.std,
        .output_std = output.output.std,
        .linear_mean = after_linear.output.mean,
        .output_mean = output.output.mean,
        .linear_along_one = along_one_.at(layer.linear1),
        .output_along_one = along_one_.at(layer.whole.get()),
        .across_batch_std = across_batch_std_[layers.size()],
        .weight_gradient_norm = moments_of(layer.linear1->weight.grad()).norm,
        .output_gradient_norm = output.gradient_norm,
    });
  }
  return layers;
}

std::vector<double> layer_values(const std::vector<Signals>& runs, size_t layer,
                                 double LayerSignal::*quantity) {
  return values_of(runs, [&](const Signals& run) { return run.layers[layer].*quantity; });
}

Spread layer_spread(const std::vector<Signals>& runs, size_t layer, double LayerSignal::*quantity) {
  return spread_of(layer_values(runs, layer, quantity));
}

}  // namespace isobar::decay
