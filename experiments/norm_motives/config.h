// Config: the settings of norm_motives.
#pragma once

#include <string>
#include <tuple>

#include "../../core/error.h"
#include "../../core/fields.h"

namespace isobar::motives {

struct Config : HasFields {
  std::string learning_rates = "0.03,0.1,0.3,1,3,10";
  int64_t depth = 4, width = 64, batch = 64, steps = 150, few = 1024, few_steps = 120, small = 2048,
          seeds = 6;
  double target = 0.5, noise = 0.5;

  void fields(Fields& f) override {
    f("learning_rates", learning_rates, "of SGD, with commas between");
    f("depth", depth, "hidden layers");
    f("width", width, "units of each");
    f("batch", batch, "images a step");
    f("steps", steps, "of training");
    f("few", few, "training images where the gap between these and unseen ones is measured");
    f("few_steps", few_steps, "of training with these, in batches of 256");
    f("small", small, "training images, each seen once, in batches of 2, 4 and 8");
    f("seeds", seeds, "runs of each net");
    f("target", target, "training loss, in nats");
    f("noise", noise,
      "after BatchNorm: a unit's mean moves by up to this, its std grows by up to this share");
  }

  // Throws Error for what cannot be measured with.
  void check_values() const {
    const std::tuple<const char*, int64_t, int64_t> all[] = {
        {"depth", depth, 2}, {"width", width, 1},         {"batch", batch, 2}, {"steps", steps, 1},
        {"few", few, 1},     {"few_steps", few_steps, 1}, {"small", small, 8}, {"seeds", seeds, 1}};
    for (const auto& [flag, value, least] : all)
      check(value >= least, "--{}: wanted at least {}, got {}", flag, least, value);
    check(!learning_rates.empty(), "--learning_rates: wanted at least one");
    check(target > 0, "--target: wanted a loss above 0, got {}", target);
    check(noise >= 0, "--noise: wanted at least 0, got {}", noise);
  }
};

}  // namespace isobar::motives
