// A decay net for tests, by the choices that matter, and its closed forms.
#pragma once

#include "../../experiments/nets/decay/net.h"

namespace isobar::decay {

struct Choice {
  const char* topology = "plain";
  const char* init = "default";
  const char* norm = "none";
  const char* loss = "sum";
  int64_t depth = 8, width = 128;
  const char* activation = "relu";
};

inline Config config_of(const Choice& net) {
  Config config;
  config.topology = net.topology;
  config.init = net.init;
  config.norm = net.norm;
  config.loss = net.loss;
  config.depth = net.depth;
  config.width = net.width;
  config.activation = net.activation;
  config.check_together();
  return config;
}

// As decay_study.cpp has it.
inline Signals measure(const Config& config, int64_t seed) {
  const Rng rng(static_cast<uint64_t>(seed));
  const Tensor x = rng.split("x").normal({config.batch, config.width}, 0, 1, config.element_type());
  Net net(config, rng.split("net"));
  SignalProbe probe(net);
  {
    const Watch watching(net, probe);
    Tape tape;
    tape.backward(loss_of(config.loss, net(x), rng.split("loss")));
  }
  return {.input_std = moments_of(x).std, .layers = probe.layers()};
}

inline LayerTheory theory_at(const Choice& net, int64_t layer) {
  return theory_of(config_of(net)).at(static_cast<size_t>(layer - 1));
}
// The value at infinite width: the median without its factor exp(−σ²).
inline double at_infinite_width(const Prediction& theory) {
  return theory.median * (std::isnan(theory.log_sd) ? 1 : std::exp(theory.log_sd * theory.log_sd));
}
inline double theory_std(const Choice& net, int64_t layer) {
  return at_infinite_width(theory_at(net, layer).output_std);
}
inline double theory_gradient(const Choice& net, int64_t layer) {
  return at_infinite_width(theory_at(net, layer).weight_gradient_norm);
}

}  // namespace isobar::decay
