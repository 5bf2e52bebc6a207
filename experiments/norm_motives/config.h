// Config: the settings of norm_motives.
#pragma once

#include <vector>

#include "../../core/fields.h"

namespace isobar::motives {

struct Config : HasFields {
  std::vector<double> learning_rates = {0.03, 0.1, 0.3, 1, 3, 10};
  int64_t depth = 4, width = 64, batch = 64, steps = 150, few = 1024, few_steps = 120, small = 2048,
          seeds = 6;
  double target = 0.5, noise = 0.5;

  void fields(Fields& f) override {
    f("learning_rates", learning_rates, "of SGD", above(0));
    f("depth", depth, "hidden layers", at_least(2));
    f("width", width, "units of each", at_least(1));
    f("batch", batch, "images a step", at_least(2));
    f("steps", steps, "of training", at_least(1));
    f("few", few, "training images where the gap between these and unseen ones is measured", at_least(1));
    f("few_steps", few_steps, "of training with these, in batches of 256", at_least(1));
    f("small", small, "training images, each seen once, in batches of 2, 4 and 8", at_least(8));
    f("seeds", seeds, "runs of each net", at_least(1));
    f("target", target, "training loss, in nats", above(0));
    f("noise", noise, "after BatchNorm: a unit's mean moves by up to this, its std grows by up to this share",
      at_least(0));
  }
};

}  // namespace isobar::motives
