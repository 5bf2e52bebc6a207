// Classifier: 784 pixels → the hidden layers of decay_study → ten digits.
#pragma once

#include <memory>

#include "../decay/net.h"
#include "config.h"

namespace isobar::depth {

// x (B, 784) → logits (B, 10). Input layer and head draw LeCun's normal weights without bias, whatever the
// hidden layers draw: the first hidden layer of every net sees the same numbers of mean square 1. A pre-norm
// chain ends in a norm of its own, as it must: its signal grows from block to block.
struct Classifier : Module {
  Linear input;
  decay::Net hidden;
  std::unique_ptr<Module> last_norm;  // identity but for topology pre
  Linear head;

  Classifier(const decay::Config& config, const Rng& rng)
      : input(init::lecun_normal({config.width, 784}, rng.split("input")), zeros({config.width})),
        hidden(config, rng.split("hidden")),
        last_norm(make_norm(config.topology == "pre" ? config.norm : "none", {config.width})),
        head(init::lecun_normal({10, config.width}, rng.split("head")), zeros({10})) {}

  Tensor forward(const Tensor& x) override { return head((*last_norm)(hidden(input(x)))); }
  void fields(Fields& f) override {
    f("input", input);
    f("hidden", hidden);
    f("last_norm", *last_norm);
    f("head", head);
  }
};

}  // namespace isobar::depth
