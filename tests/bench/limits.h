// Limits: what this machine can do at best, measured with the threads in use.
#pragma once

#include "case.h"
#include "timing.h"

namespace isobar::bench {

// The limit of this work in the unit of its derived figure, or 0 where there is none.
double limit_of(const Work& work, const TimingOptions& options);

}  // namespace isobar::bench
