// The curves of norm_jacobian's report: RMSNorm seen by one of its elements, and its elementwise replacements.
#pragma once

#include <cstdint>

#include "../harness/run.h"

namespace isobar::jacobian {

// What becomes of one element x among d whose others are ±1, in RMSNorm (measured on the module), beside
// DyTSqrtD, DyISRU with C = d, and DyT, all as they are initialised; and how far the three are from RMSNorm.
// Theory: √d x/√(x² + d − 1) for RMSNorm, √d tanh(x/√d), √d x/√(x² + d).
void plot_curves(Run& run, int64_t d);

}  // namespace isobar::jacobian
