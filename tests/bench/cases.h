// All cases of bench: those of experiments/bench/, and those that are measured here alone.
#pragma once

#include "../../experiments/bench/case.h"

namespace isobar::bench {

void add_limits(Cases& cases);
void add_training(Cases& cases);
void add_process(Cases& cases);
Cases all_cases();

}  // namespace isobar::bench
