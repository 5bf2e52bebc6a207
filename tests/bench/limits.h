// Limits: what this machine can do, measured with the threads in use.
//
// A share above one is no mistake: a triad's store has to fetch its line first, while a step that writes what
// it has just read, like an optimizer's, has not.
#pragma once

#include "case.h"
#include "timing.h"

namespace isobar::bench {

// The limit of this work in the unit of its derived figure, or 0 where there is none.
double limit_of(const Work& work, const TimingOptions& options);

}  // namespace isobar::bench
