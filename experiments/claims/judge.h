// Judging: a verdict on a claim, computed from the summaries of finished runs and never written down.
#pragma once

#include "../harness/json.h"
#include "claim.h"

namespace isobar::claims {

// The measured values of runs by name; a run that is missing was not made.
using Measured = std::map<std::string, Json, std::less<>>;
// Why runs could not be made, by name.
using Missing = std::map<std::string, std::string, std::less<>>;

struct Finding {
  std::string says, figure;  // "median 0.3373 [0.3323, 0.3465]"
  std::string wanted;        // "at most 1e-12"
  double theory;             // NaN: none
  bool holds;                // never without a figure
  std::string not_run;       // why there is no figure; empty: there is one
};

struct Judged {
  const Claim* claim;
  std::string verdict;  // confirmed, refuted, partly, no source found, not run here, cited
  std::string reason;   // computed, with numbers
  std::vector<Finding> findings;
};

// Confirmed when all parts hold and nothing is left out, refuted when none does (or, of one statement, not
// all), else partly. Where a figure is missing the claim was not run here; the reason is that of `missing`,
// or names run and key.
Judged judge(const Claim& claim, const Measured& measured, const Missing& missing = {});

Json to_json(const Judged& judged);

}  // namespace isobar::claims
