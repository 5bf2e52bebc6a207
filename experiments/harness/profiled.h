// What a program says and writes with --profile.
#pragma once

#include "../../core/profile.h"
#include "run.h"

namespace isobar {

// Prints where the time went, by op and by module, and what would help; writes profile.csv, a row for each op
// of each module, and profile.json, the first intervals for chrome://tracing.
void report_profile(Run& run, Profile& profile);

}  // namespace isobar
