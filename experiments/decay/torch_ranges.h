// What PyTorch 1.13 gave for the two nets of eight layers (f32, seeds 0 to 19, sums in f32), and the expectations that
// our medians lie in those ranges.
#pragma once

#include <vector>

#include "../harness/run.h"
#include "measure.h"

namespace isobar::decay {

// 8 × [Linear(512, 512) → ReLU], x (32, 512), loss = sum; and the same with RMSNorm before each ReLU.
void expect_blog8(Run& run, const std::vector<Signals>& runs);
void expect_blog8_rmsnorm(Run& run, const std::vector<Signals>& runs);

}  // namespace isobar::decay
