// Verifying: the runs that files of claims need are made, unless they are there, and every claim is judged.
#pragma once

#include <string>
#include <vector>

#include "../harness/run.h"
#include "file.h"

namespace isobar::claims {

struct VerifyOptions {
  std::string scale;  // "quick" or "full"
  std::string only;   // the one run to make; empty: all
  bool detail;        // whether each part is said below its claim
};

// Makes the runs into folders of their own below run's, judges, prints a line for each claim, and publishes
// claims.csv and, in summary.json, "sources", "claims", "counts" and "runs". Returns whether every run could be made.
// Throws Error, before anything runs, for two files that disagree about a run and for flags that a study does not
// take; afterwards for a key that a run did not measure, with file, line and the nearest key.
bool verify(Run& run, const std::vector<ClaimFile>& files, const VerifyOptions& options);

}  // namespace isobar::claims
