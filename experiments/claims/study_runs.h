// StudyRuns: makes runs of studies as child processes, each in a folder of its own, and finds those that are there.
#pragma once

#include <optional>
#include <string>

#include "../harness/json.h"
#include "../harness/run.h"
#include "cost.h"
#include "plan.h"

namespace isobar::claims {

// What a study's --print-config says of these flags. Throws Error, beginning with `where`, for flags that
// it refuses, and for those that are none of its settings.
Json config_of(const PlannedRun& planned, int64_t seed, const std::string& where);

// Whether a finished run of this configuration is in its folder below run's.
bool is_made(const Run& run, const PlannedRun& planned, const Json& config);

struct Made {
  Json summary;             // null where the run failed
  std::string complaint;    // of the run that failed
  bool cannot_run = false;  // for it needs what is not here
};

// Makes one run, unless a finished one of the same configuration is in its folder below run's, within
// `most` where that is given. One that fails, or fails its expectations, is an expectation of `run` that is
// not met. Throws Error, beginning with the line, for a run of a stranger's file whose settings the study
// refuses.
Made make_run(Run& run, const PlannedRun& planned, const Json& config, const std::optional<Cost>& most);

}  // namespace isobar::claims
