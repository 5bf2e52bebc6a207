// RunState: what a Run was given so far, as plain values: a checkpoint holds it, and a resumed run receives it
// again.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../../core/tensor.h"

namespace isobar {

struct RunState {
  std::map<std::string, Tensor> series;                   // (rows) or (rows, length), f64; without "/series/"
  std::map<std::string, std::vector<std::string>> lists;  // texts at the root of run.h5, as "modules"
  std::map<std::string, std::string> csvs;                // whole texts by file name
};

}  // namespace isobar
