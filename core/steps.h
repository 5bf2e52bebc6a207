// Steps: how many steps all optimizers have taken, so that backward() finds a gradient that no step uses up.
#pragma once

#include <cstdint>

namespace isobar::steps {

// The number of steps so far, of all threads.
uint64_t taken();
// The number of the last step on this thread, 0 before the first.
uint64_t last_here();
// For an optimizer, after its step.
void count();

}  // namespace isobar::steps
