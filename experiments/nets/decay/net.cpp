#include "net.h"

#include <numbers>

#include "overflow.h"

namespace isobar::decay {
namespace {

Tensor initial_weight(const Config& config, const Rng& rng) {
  const Shape shape{config.width, config.width};
  const Dtype dtype = config.element_type();
  const std::string& name = config.init;
  if (name == "default" || name == "default_nobias")
    return init::linear_default(shape, config.width, rng, dtype);
  if (name == "normal01") return rng.normal(shape, 0, 1, dtype);
  if (name == "xavier_uniform") return init::xavier_uniform(shape, rng, 1, dtype);
  if (name == "xavier_normal") return init::xavier_normal(shape, rng, 1, dtype);
  if (name == "he_uniform") return init::he_uniform(shape, rng, init::he_gain, dtype);
  if (name == "he_normal") return init::he_normal(shape, rng, init::he_gain, dtype);
  if (name == "lecun_normal") return init::lecun_normal(shape, rng, dtype);
  if (name == "orthogonal") return init::orthogonal(shape, rng, 1, dtype);
  check(name == "orthogonal_sqrt2", "init: unknown name '{}'", name);
  return init::orthogonal(shape, rng, std::numbers::sqrt2, dtype);
}

Tensor initial_bias(const Config& config, const Rng& rng) {
  if (config.init == "default_nobias") return {};
  if (config.init == "default")
    return init::linear_default({config.width}, config.width, rng, config.element_type());
  return zeros({config.width}, config.element_type());
}

std::unique_ptr<Linear> make_linear(const Config& config, const Rng& rng) {
  return std::make_unique<Linear>(initial_weight(config, rng.split("weight")),
                                  initial_bias(config, rng.split("bias")));
}

std::unique_ptr<Module> norm_of(const Config& config) {
  NormOptions options;
  if (config.alpha >= 0) options.alpha = config.alpha;
  return make_norm(config.norm, config.width, options);
}

struct Tanh : Module {
  Tensor forward(const Tensor& x) override { return tanh(x); }
};

std::unique_ptr<Module> activation_of(const Config& config) {
  if (config.activation == "relu") return std::make_unique<ReLU>();
  if (config.activation == "gelu") return std::make_unique<GELU>();
  if (config.activation == "silu") return std::make_unique<SiLU>();
  if (config.activation == "tanh") return std::make_unique<Tanh>();
  check(config.activation == "none", "activation: unknown name '{}'", config.activation);
  return std::make_unique<Identity>();
}

template <class Part>
Part* add(Sequential& parts, std::unique_ptr<Part> part) {
  Part* const added = part.get();
  parts.add(std::move(part));
  return added;
}

Layer plain_layer(const Config& config, const Rng& rng) {
  auto parts = std::make_unique<Sequential>();
  Layer layer{.linear1 = add(*parts, make_linear(config, rng.split("linear1")))};
  if (config.order == "relu_norm") layer.relu = add(*parts, activation_of(config));
  layer.norm = add(*parts, norm_of(config));
  if (config.order == "norm_relu") layer.relu = add(*parts, activation_of(config));
  layer.whole = std::move(parts);
  return layer;
}

Layer fixup_layer(const Config& config, const Rng& rng) {
  auto fixup = std::make_unique<Fixup>(config.width, config.depth, rng);
  Linear* const linear1 = &fixup->linear1;
  ReLU* const relu = &fixup->relu;
  return {.whole = std::move(fixup), .linear1 = linear1, .norm = nullptr, .relu = relu};
}

Layer residual_layer(const Config& config, const Rng& rng) {
  auto branch = std::make_unique<Sequential>();
  Layer layer{.linear1 = add(*branch, make_linear(config, rng.split("linear1"))),
              .relu = add(*branch, activation_of(config))};
  add(*branch, make_linear(config, rng.split("linear2")));
  if (config.topology == "skipinit") {
    layer.whole = std::make_unique<SkipInit>(std::move(branch), config.branch_scale());
  } else if (config.topology == "rezero") {
    layer.whole = std::make_unique<ReZero>(std::move(branch));
  } else if (config.topology == "residual") {
    layer.whole = std::make_unique<Residual>(std::move(branch));
  } else {
    std::unique_ptr<Module> norm = norm_of(config);
    layer.norm = norm.get();
    layer.whole =
        std::make_unique<Residual>(std::move(branch), placement_from_name(config.topology), std::move(norm));
  }
  return layer;
}

}  // namespace

Layer make_layer(const Config& config, const Rng& rng) {
  Layer layer = config.topology == "plain"   ? plain_layer(config, rng)
                : config.topology == "fixup" ? fixup_layer(config, rng)
                                             : residual_layer(config, rng);
  if (config.norm == "none") layer.norm = nullptr;
  convert(*layer.whole, config.element_type());
  return layer;
}

Net::Net(const Config& config, const Rng& rng) {
  layers.reserve(static_cast<size_t>(config.depth));
  for (int64_t i = 1; i <= config.depth; ++i)
    layers.push_back(make_layer(config, rng.split(fmt::format("layer {}", i))));
}

Tensor Net::forward(const Tensor& x) {
  Tensor y = x;
  for (const Layer& layer : layers) y = (*layer.whole)(y);
  return y;
}

void Net::fields(Fields& f) {
  for (size_t i = 0; i < layers.size(); ++i) f(std::to_string(i + 1), layers[i].whole);
}

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
  along_one_[&module] = rms_alignment(y);
  if (layer) across_batch_std_.push_back(mean(sqrt(var(cast(y, Dtype::f64), {0}))).item());
}

std::vector<LayerSignal> SignalProbe::layers() const {
  // A finite signal may have no std either: that of one number.
  const auto std_in = [](const Moments& signal, double std) {
    return std::isfinite(signal.rms) ? std : overflow_as_infinity(std);
  };
  const auto std_of = [&](const ModuleSignal& of) { return std_in(of.output, of.output.std); };
  std::vector<LayerSignal> layers;
  for (const Layer& layer : net_.layers) {
    const ModuleSignal& output = *find(layer.whole->path());
    const ModuleSignal& after_linear = *find(layer.linear1->path());
    layers.push_back({
        .linear_std = std_of(after_linear),
        .norm_std = layer.norm == nullptr ? std::numeric_limits<double>::quiet_NaN()
                                          : std_of(*find(layer.norm->path())),
        .relu_std = std_of(*find(layer.relu->path())),
        .output_std = std_of(output),
        .linear_mean = after_linear.output.mean,
        .output_mean = output.output.mean,
        .linear_along_one = along_one_.at(layer.linear1),
        .output_along_one = along_one_.at(layer.whole.get()),
        .across_batch_std = std_in(output.output, across_batch_std_[layers.size()]),
        .weight_gradient_norm = overflow_as_infinity(moments_of(layer.linear1->weight.grad()).norm),
        .output_gradient_norm = overflow_as_infinity(output.gradient_norm),
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
