// Classifier: a net for digits of depth_trainability, around the hidden layers of decay_study; and how its
// answers are judged.
#pragma once

#include "../decay/net.h"
#include "digits.h"

namespace isobar::depth {

// x (B, 784) → logits (B, 10). Input layer and head draw LeCun's normal weights without bias, whatever the
// hidden layers draw: the first hidden layer of every net sees the same numbers of mean square 1. A pre-norm
// chain ends in a norm of its own, as it must: its signal grows from block to block.
struct Classifier : Module {
  Linear input;
  decay::Net hidden;
  std::unique_ptr<Module> last_norm;  // identity but for topology pre
  Linear head;

  Classifier(const decay::Config& config, const Rng& rng);
  Tensor forward(const Tensor& x) override;
  void fields(Fields& f) override;
};

// Share of right answers, and mean cross-entropy in nats; both NaN where a logit is not finite.
struct Judged {
  double accuracy, loss;
};
Judged judge(Classifier& model, const Dataset& images);

}  // namespace isobar::depth
