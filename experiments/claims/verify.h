// Verifying: the runs that files of claims need are made, unless they are there, and every claim is judged.
#pragma once

#include "file.h"
#include "kept.h"
#include "plan.h"

namespace isobar::claims {

struct VerifyOptions {
  std::string scale;                // "quick" or "full"
  std::vector<std::string> claims;  // the ids of those to judge; empty: all
  std::string only;                 // the one run to make; empty: all
  bool detail;                      // whether each part is shown below its claim
  bool allow_large = false;         // whether files of the user's may take any memory and time
  std::string programs = "";  // a folder whose studies replace those beside this program; empty: none do
  bool kept = false;          // no run is made: the claims are judged by the kept values
  bool ladder = false;        // the runs of reaches are made too, at the full scale
  // Called with each finished run, before its claims are judged.
  std::function<void(const PlannedRun& planned, const Json& summary)> made = [](const PlannedRun&,
                                                                                const Json&) {};
  // Called after each run, with what summary.json will have: "claims" so far, "runs" made, and "progress".
  std::function<void(const Json& summary)> renewed = [](const Json&) {};
};

struct Verified {
  bool all_here = true;  // every run had what it needs; one that failed is an unmet expectation
  std::vector<std::string>
      mistakes;  // of the files, each with its line: their claims are not judged, others are
};

// Makes the runs into folders of their own below run's, judges, prints a table as each run ends, and
// publishes claims.csv and, in summary.json, "sources", "claims", "counts" and "runs". The flags
// and kinds of key of a run of a user's file are checked before it is made. Throws Error for what the words get wrong,
// and for two files with one name for two runs or claims. Unless they may take all, a run of a user's file ends at
// limit_of_untrusted().
Verified verify(Run& run, std::vector<ClaimFile> files, const VerifyOptions& options);

// All claims of the files, judged by kept values, as the "claims" and "sources" of verify's summary.json: each such claim
// has "kept", and each of its parts that has a value. `made` has summaries of finished runs by the names of the kept runs
// of their settings: claims that need no other run are judged by them.
Json kept_summary(const std::vector<ClaimFile>& files, const Kept& kept,
                  const std::map<std::string, Json>& made);

// The name of the kept run that has the settings of this finished run; empty where none has.
std::string kept_run_of(const Json& summary, const std::vector<ClaimFile>& files, const Kept& kept);

// A line for a shell for each run that verify() would make with its results below `folder`. They may run at the same
// time, on other machines too, and a line several times: the processes then share the run's trainings (run/grid.h).
std::string job_lines(std::vector<ClaimFile> files, const VerifyOptions& options, const std::string& folder,
                      int64_t seed);

}  // namespace isobar::claims
