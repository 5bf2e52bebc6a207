// Judging: a verdict on a claim, computed from the summaries of finished runs and never written down.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../harness/json.h"
#include "claim.h"

namespace isobar::claims {

// What judging knows of the runs: the summary of each by name, and of those that could not be made the reason.
struct Runs {
  std::map<std::string, Json, std::less<>> summaries;
  std::map<std::string, std::string, std::less<>> missing;
};

// A part read.
struct Finding {
  const Part* part;
  Spread seeds;
  Reading reading;
  int64_t needed;              // seeds that would settle what too few left open; 0: unknown, or settled
  std::string corpus;          // of the run; empty where it has none
  double theory;               // NaN: none
  std::string not_run;         // why there is no value; empty: there is one
  bool at_full_scale = false;  // its value is measured at the full scale alone, and this run was a quick one
};

// Every word that a verdict can be, in the order in which they are counted.
const std::vector<std::string>& verdict_words();

struct Judged {
  const Claim* claim;
  std::string verdict;            // one of verdict_words()
  std::string reason, reason_zh;  // computed, with numbers
  std::vector<Finding> findings;  // by part
};

// Of a measured claim: confirmed when all parts hold and nothing is left out, refuted when none does (or, of one
// statement, not all), partly when some do. Where too few seeds or a busy machine leave a part open, that is the
// verdict, unless the other parts settle it. Where a value is missing the claim was not run here, or, of a part that is
// measured at the full scale alone, needs the full run.
Judged judge(const Claim& claim, const Runs& runs);

// "0.3373 [0.3323, 0.3465]": the mean with the rule's interval, or the value that all seeds share.
std::string value_text(const Finding& finding);

// The parts as a table: what was measured and over how many seeds, theory, what was asked, and the outcome or why
// there is no value.
std::string parts_table(const Judged& judged);

Json to_json(const Judged& judged);

}  // namespace isobar::claims
