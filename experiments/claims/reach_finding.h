// A reach found: what a ladder's run measured of one key of a part's reach, on each rung, and how far it goes.
//
// The summary of a ladder has its rungs, from the least compute on, and for each key a value on each:
//   {"rungs": [{"name": {"en": "48 wide, 140 steps", "zh": "宽 48，140 步"}, "log2_compute": 37.1}, …],
//    "measured": {"adamw.dyt_minus_rmsnorm.rung1": …}}
#pragma once

#include "claim.h"
#include "reach.h"

namespace isobar::claims {

struct ReachFinding {
  std::string key;   // "adamw.dyt_minus_rmsnorm"
  Phrase optimizer;  // "AdamW"
  // Of the rungs on which it was measured.
  std::vector<Phrase> rungs = {};
  std::vector<double> log2_compute = {};
  std::vector<Spread> spreads = {};
  size_t rungs_of_ladder = 0;
  Reach reach = {};
  Phrase none = {};   // why there is no reach; empty: there is one
  bool kept = false;  // it is of the last full run that was kept, and not of this one

  // "48 wide" of "48 wide, 140 steps", where that tells the rungs apart.
  std::vector<Phrase> short_names() const;
};

// The optimizer by which the key begins: "AdamW" of adamw.x, "Muon − AdamW" of muon_minus_adamw.x.
Phrase optimizer_of(const std::string& key);

// Reads the rungs of its key; `ladder` is the summary of the part's reach_run.
void read_reach(ReachFinding& finding, const Part& part, const Json& ladder);

// "AdamW: holds at all sizes, 48 wide to 96 wide", "Muon: no reach: …"
Phrase text_of(const ReachFinding& finding);
Phrase text_of(const std::vector<ReachFinding>& findings);
const char* word_of(ReachWord word);

}  // namespace isobar::claims
