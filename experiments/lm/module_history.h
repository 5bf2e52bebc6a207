// What was seen of each module of a language model so far, out of a run.h5 that may still grow.
#pragma once

#include <string>
#include <vector>

#include "../../data/hdf5_file.h"

namespace isobar {

// One value a log step in each list.
struct ModuleHistory {
  std::string path, type;
  std::vector<double> std, mean, gradient;  // of the output; the norm of the output's gradient
  // Shares of the output's elements; NaN where the run does not have them.
  std::vector<double> zeros = {}, saturated = {};
};

// In the order of /modules; empty while the file has no log step.
std::vector<ModuleHistory> module_histories(const Hdf5File& file);

// 0 for "norm", 2 for "blocks.0.mlp".
int64_t depth_of(const std::string& path);
// Whether a module is a block, or a part of the model itself: what writes to the residual stream or reads all of it.
bool on_the_stream(const std::string& path, const std::string& type);

}  // namespace isobar
