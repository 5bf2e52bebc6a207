// Config: every knob of depth_trainability.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields.h"
#include "../decay/config.h"
#include "nets.h"

namespace isobar::depth {

struct Config : HasFields {
  // topology.init.norm, those of the hidden layers; input layer and head: see Classifier. These are the nets
  // that the claims speak of.
  std::vector<std::string> nets = {
      "plain.default.none",    "plain.he_normal.none",    "plain.orthogonal_sqrt2.none",
      "plain.default.rmsnorm", "pre.default.none",        "pre.he_normal.none",
      "pre.default.rmsnorm",   "skipinit.he_normal.none", "rezero.he_normal.none",
      "fixup.he_normal.none"};
  std::vector<int64_t> depths = {2, 8, 100};
  int64_t width = 128;       // that of decay_study's table of depths
  int64_t batch = 64;        // images a step
  int64_t steps = 100;       // the same for every net
  int64_t seeds = 5;         // enough for a first result; intervals of fewer are wide
  double learning_rate = 0;  // 0: for each net and depth the best of a sweep
  std::string mnist = "";    // folder; empty: $ISOBAR_DATA/mnist, or the test images of data/

  void fields(Fields& f) override;
  std::vector<Kind> kinds() const { return kinds_of(nets); }

  // The hidden layers, as decay_study builds them.
  decay::Config hidden(const Kind& kind, int64_t depth) const;
};

}  // namespace isobar::depth
