#include "net.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "../../nn/model.h"

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

Linear make_linear(const Config& config, const Rng& rng) {
  return Linear(initial_weight(config, rng.split("weight")), initial_bias(config, rng.split("bias")));
}

Linear first_linear(const Config& config, const Rng& rng) {
  if (config.topology != "fixup") return make_linear(config, rng);
  const double gain = init::he_gain / std::sqrt(static_cast<double>(config.depth));
  return Linear(
      init::he_normal({config.width, config.width}, rng.split("weight"), gain, config.element_type()));
}

std::unique_ptr<Module> norm_of(const Config& config) {
  NormOptions options;
  if (config.alpha >= 0) options.alpha = config.alpha;
  std::unique_ptr<Module> norm = make_norm(config.norm, config.width, options);
  convert(*norm, config.element_type());
  return norm;
}

Tensor trainable_number(double value, Dtype dtype) { return full({1}, value, dtype).set_trainable(); }

}  // namespace

Layer::Layer(const Config& config, const Rng& rng)
    : topology(config.topology),
      order(config.order),
      linear1(first_linear(config, rng.split("linear1"))),
      norm(norm_of(config)) {
  const Dtype dtype = config.element_type();
  if (topology == "fixup") {
    linear2.emplace(zeros({config.width, config.width}, dtype));
    scale = trainable_number(1, dtype);
    shift1 = trainable_number(0, dtype);
    shift2 = trainable_number(0, dtype);
    shift3 = trainable_number(0, dtype);
  } else if (config.is_block()) {
    linear2.emplace(make_linear(config, rng.split("linear2")));
  }
  if (topology == "skipinit") scale = trainable_number(config.branch_scale(), dtype);
  if (topology == "rezero") scale = trainable_number(0, dtype);
}

Tensor Layer::forward(const Tensor& x) {
  if (topology == "plain")
    return order == "norm_relu" ? relu((*norm)(linear1(x))) : (*norm)(relu(linear1(x)));
  if (topology == "fixup") return x + scale * (*linear2)(relu(linear1(x + shift1) + shift2)) + shift3;

  const auto f = [this](const Tensor& h) { return (*linear2)(relu(linear1(h))); };
  if (topology == "residual") return x + f(x);
  if (topology == "pre") return x + f((*norm)(x));
  if (topology == "post") return (*norm)(x + f(x));
  check(topology == "skipinit" || topology == "rezero", "layer: unknown topology '{}'", topology);
  return x + scale * f(x);
}

void Layer::fields(Fields& f) {
  f("linear1", linear1);
  f("norm", *norm);
  f("relu", relu);
  if (linear2) f("linear2", *linear2);
  f("scale", scale);
  f("shift1", shift1);
  f("shift2", shift2);
  f("shift3", shift3);
}

Net::Net(const Config& config, const Rng& rng) {
  layers.reserve(static_cast<size_t>(config.depth));
  for (int64_t i = 1; i <= config.depth; ++i)
    layers.emplace_back(config, rng.split(fmt::format("layer {}", i)));
}

Tensor Net::forward(const Tensor& x) {
  Tensor y = x;
  for (Layer& layer : layers) y = layer(y);
  return y;
}

void Net::fields(Fields& f) {
  for (size_t i = 0; i < layers.size(); ++i) f(std::to_string(i + 1), layers[i]);
}

}  // namespace isobar::decay
