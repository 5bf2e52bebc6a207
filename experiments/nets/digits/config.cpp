#include "config.h"

#include "../../../nn/norm.h"

namespace isobar::depth {
namespace {

bool makes_sense(const Kind& kind) {
  if (kind.does_without_norm() && kind.norm != "none") return false;
  if (kind.topology == "post" && kind.norm == "none") return false;
  return kind.topology != "fixup" || kind.init == "he_normal";
}

std::vector<Kind> kinds_with(const Choices& norms) {
  std::vector<Kind> kinds;
  for (const char* topology : {"plain", "pre", "post", "skipinit", "rezero", "fixup"})
    for (const char* init : {"default", "he_normal", "orthogonal_sqrt2"})
      for (const std::string& norm : norms)
        if (const Kind kind{topology, init, norm}; makes_sense(kind)) kinds.push_back(kind);
  return kinds;
}

}  // namespace

void Config::fields(Fields& f) {
  f("nets", nets,
    "list of topology.init.norm, or all; topologies: plain, pre, post, skipinit, rezero, fixup; weights: "
    "default, he_normal, orthogonal_sqrt2; norms (all: none, layernorm, rmsnorm, dyt, dyisru)",
    one_of(kind_names()));
  f("activation", activation, "none: linear", decay::activation_names());
  f("depths", depths, "depths: hidden layers (plain), or blocks of two layers", between(1, 10'000));
  f("width", width, "features of every layer", between(1, 16'384));
  f("batch", batch, "images a step", between(1, 7'000));
  f("steps", steps, "training steps of every net", between(1, 1'000'000));
  f("seeds", seeds, "runs of every net, from seed --seed on", between(1, 10'000));
  f("learning_rate", learning_rate, "of Adam; 0: for each net and depth the best of a sweep", at_least(0));
  f("mnist", mnist, "folder of the images; empty: $ISOBAR_DATA/mnist, or the test images of the repository");
}

void Config::check_together() const {
  for (const Kind& kind : kinds())
    check(activation == "relu" || kind.topology != "fixup",
          "--activation {} has no place in {}, whose blocks have a ReLU of their own; leave it out of --nets",
          activation, kind.key());
}

decay::Config Config::hidden(const Kind& kind, int64_t depth) const {
  decay::Config config;
  config.depth = depth;
  config.width = width;
  config.batch = batch;
  config.init = kind.topology == "fixup" ? "default" : kind.init;
  config.norm = kind.norm;
  config.activation = activation;
  config.topology = kind.topology;
  config.loss = "random";
  return config;
}

Choices kind_names() {
  Choices names = {"all"};
  for (const Kind& kind : kinds_with(norm_names())) names.push_back(kind.key());
  return names;
}

std::vector<Kind> kinds_of(const std::vector<std::string>& names) {
  if (names.front() == "all") return kinds_with({"none", "layernorm", "rmsnorm", "dyt", "dyisru"});
  std::vector<Kind> kinds;
  for (const std::string& name : names)
    for (const Kind& kind : kinds_with(norm_names()))
      if (kind.key() == name) kinds.push_back(kind);
  return kinds;
}

}  // namespace isobar::depth
