// What a Probe saw of a language model, into the run's files and onto the terminal.
#pragma once

#include "../../nn/observe.h"
#include "../harness/run.h"

namespace isobar {

// One look: a row of each /series/module_* and /series/weight_* in run.h5 (their columns are named once in
// /modules and /weights), and a line of layers.csv for each module.
void record_modules(Run& run, Csv& csv, const Probe& probe, int64_t step);
// What all looks saw, for the report: a heatmap of stds and one of gradient norms, module by look.
class ModuleHistory {
 public:
  void add(const Probe& probe, int64_t step);
  void plot(Run& run) const;

 private:
  std::vector<double> steps_;
  std::vector<std::string> names_;
  std::vector<std::vector<double>> stds_, gradients_;  // by module
};

// [{path, std, grad_norm}, …]
Json modules_json(const Probe& probe);
// A table of blocks, their branches and norms, and charts of the residual stream.
void print_modules(Run& run, const Probe& probe, int64_t step);

}  // namespace isobar
