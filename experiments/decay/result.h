// Result: all runs of one configuration, and what theory predicts for it.
#pragma once

#include <vector>

#include "measure.h"
#include "theory.h"

namespace isobar::decay {

struct Result {
  Config config;
  std::vector<Signals> runs;
  std::vector<LayerTheory> theory;
};

}  // namespace isobar::decay
