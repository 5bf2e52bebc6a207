// Config: every knob of depth_trainability, and the nets that it names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/fields.h"
#include "../decay/config.h"

namespace isobar::depth {

// One kind of net, of any depth.
struct Kind {
  std::string topology, init, norm;

  // "plain.default.none", for measured keys.
  std::string key() const { return topology + "." + init + "." + norm; }
  bool operator==(const Kind&) const = default;
};

struct Kinds {
  std::vector<Kind> wanted;
  std::vector<std::string> left_out;  // combinations without meaning, each with its reason
};

struct Config : HasFields {
  std::string topology = "plain,pre";      // lists; "all" stands for every choice
  std::string init = "default,he_normal";  // of the hidden layers; input layer and head: see Classifier
  std::string norm = "none,rmsnorm";
  std::string depths = "2,8,32,100";
  int64_t width = 128;       // that of decay_study's table of depths
  int64_t batch = 64;        // images a step
  int64_t steps = 100;       // the same for every net
  int64_t seeds = 3;         // the fewest that have a median
  double learning_rate = 0;  // of depth 8 and below; 0: the best of learning_rates at depth 8
  double lr_power = 1;       // p of lr · min(1, 8 / depth)^p: all layers together then move as far
  std::string mnist = "";    // folder; empty: $ISOBAR_DATA/mnist, or the test images of data/

  void fields(Fields& f) override;
  // All throw Error naming the flag for what cannot be understood.
  void check_values() const;
  std::vector<int64_t> depth_list() const;  // ascending
  Kinds kinds() const;

  // The rule for every net: the rate at this depth, given that at depth 8.
  double rate(double at_depth_8, int64_t depth) const;
  // The hidden layers, as decay_study builds them.
  decay::Config hidden(const Kind& kind, int64_t depth) const;
};

inline constexpr int64_t tuned_depth = 8;
inline constexpr double learning_rates[] = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2};

}  // namespace isobar::depth
