// What depth_trainability trains: kinds of net, and every knob.
#pragma once

#include "../decay/config.h"

namespace isobar::depth {

// One kind of net, of any depth: its topology, initial weights and norm, by decay_study's names.
struct Kind {
  std::string topology, init, norm;

  // "plain.default.none": its name on the command line and in measured keys.
  std::string key() const { return topology + "." + init + "." + norm; }
  bool operator==(const Kind&) const = default;
  // Meant to: its branches start small.
  bool does_without_norm() const {
    return topology == "skipinit" || topology == "rezero" || topology == "fixup";
  }
};

// "all", and the names of all kinds with any norm of norm_names(). Without a name are post without a norm,
// skipinit, rezero and fixup with one, and fixup with other weights than its own.
Choices kind_names();
// The kinds of these names; of "all" those that have none, layernorm, rmsnorm, dyt or dyisru.
std::vector<Kind> kinds_of(const std::vector<std::string>& names);

// --- Config: every knob of depth_trainability.

struct Config : HasFields {
  // topology.init.norm of the hidden layers (input and head: see Classifier): the nets that claims speak of.
  std::vector<std::string> nets = {
      "plain.default.none",    "plain.he_normal.none",    "plain.orthogonal_sqrt2.none",
      "plain.default.rmsnorm", "pre.default.none",        "pre.he_normal.none",
      "pre.default.rmsnorm",   "skipinit.he_normal.none", "rezero.he_normal.none",
      "fixup.he_normal.none"};
  std::string activation = "relu";  // φ of the hidden layers; 003's is a ReLU
  std::vector<int64_t> depths = {2, 8, 100};
  int64_t width = 128;       // that of decay_study's table of depths
  int64_t batch = 64;        // images a step
  int64_t steps = 100;       // the same for every net
  int64_t seeds = 5;         // enough for a first result; intervals of fewer are wide
  double learning_rate = 0;  // 0: for each net and depth the best of a sweep
  std::string mnist = "";    // folder; empty: $ISOBAR_DATA/mnist, or the test images of data/

  void fields(Fields& f) override;
  // Throws Error where a net has no place for the activation.
  void check_together() const;
  std::vector<Kind> kinds() const { return kinds_of(nets); }

  // The hidden layers, as decay_study builds them.
  decay::Config hidden(const Kind& kind, int64_t depth) const;
};

}  // namespace isobar::depth
