// A bad step, run again alone under a search: which op made the first NaN or infinity, of which values, for which row.
#pragma once

#include <optional>
#include <string>

#include "bad_row.h"
#include "bad_step.h"

namespace isobar {

struct StepFinding {
  double loss = 0, gradient_norm = 0;
  std::optional<BadOp> op;  // none where the step is finite
  std::string parameter;    // the name of op->leaf, or of a parameter whose gradient alone is not finite
  BadRow row;               // of op, in its piece of the batch
  int64_t first_row = 0;    // of that piece
  std::string line;         // what made it and where, one line
  std::string
      report;  // the same with the numbers and a checksum of the values: the same bits give the same text
};

// On a model of its own, with the settings of the step but --activation_checkpointing, which changes no bit and hides
// which op it was.
StepFinding examine(const BadStep& step);

// examine() for the file of another run: its report. Throws Diverged where that is not the one in the file, and Error as
// load_bad_step() does.
std::string replay(const std::string& path);

}  // namespace isobar
