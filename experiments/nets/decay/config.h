// Config: every knob of decay_study. The defaults are source 003's net of eight layers, as its code has it.
#pragma once

#include "../../../core/fields.h"

namespace isobar::decay {

// Names of φ, the ReLU first: also depth_trainability's.
const Choices& activation_names();

struct Config : HasFields {
  int64_t depth = 8;                // layers, or blocks of two layers; 003's table has 8
  int64_t width = 512;              // features of every layer, as in 003
  int64_t batch = 32;               // rows of the input, as in 003
  int64_t seeds = 20;               // runs, seeds --seed, --seed + 1, …: enough for a median and a range
  std::string init = "default";     // PyTorch's Linear, which 003 uses without saying so
  std::string norm = "none";        // the question is what happens without one
  std::string activation = "relu";  // φ, between the matrices; 003's is a ReLU
  std::string order = "norm_relu";  // of a plain layer; 003's table 3.3 has the norm first
  std::string topology = "plain";   // no residual connections, as in 003
  std::string loss = "sum";         // 003's code calls out.sum().backward()
  std::string dtype = "f32";        // what nets are trained in; f64 shows what f32 loses
  double alpha = -1;                // below zero: the default of the norm or topology that uses it

  void fields(Fields& f) override;
  // Throws Error naming the flag for pairs of choices without meaning.
  void check_together() const;

  Dtype element_type() const { return dtype_from_name(dtype); }
  // W1 and W2 around an identity path, instead of one W1.
  bool is_block() const { return topology != "plain"; }
  // What `alpha` stands for where skipinit uses it: the factor of a branch, by default 1/√depth.
  double branch_scale() const;
  // "plain default rmsnorm sum D=8", for tables; with "gelu" before the loss where φ is no ReLU.
  std::string net_name() const;
  // "plain.default.rmsnorm.sum.D8", for charts.
  std::string key() const;
};

}  // namespace isobar::decay
