// Judging: a verdict on a claim, computed from the summaries of finished runs and never written down.
#pragma once

#include <map>
#include <utility>

#include "claim.h"
#include "over_settings.h"
#include "reach_finding.h"
#include "words.h"

namespace isobar::claims {

// What judging knows of the runs: the summary of each by name; of those that could not be made the reason.
struct Runs {
  std::map<std::string, Json, std::less<>> summaries;
  std::map<std::string, std::string, std::less<>> missing;
  // Earlier looks at a value, by run and key: at how many seeds, as Finding::looks gave them. Whoever keeps
  // findings hands them back here, for each look at more seeds has a smaller share of the error rate.
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> looks = {};
  // The kept summaries, of which a reach takes the ladders that were not made now.
  std::map<std::string, Json, std::less<>> kept = {};
  // Of the parts whose run or key the file gets wrong: "mine.toml, line 19: …".
  std::map<const Part*, std::string> mistakes = {};
};

// A part read.
struct Finding {
  const Part* part;
  Spread seeds = {};
  Reading reading = {};
  int64_t needed = 0;       // seeds that would settle what too few left open; 0: unknown, or settled
  std::string corpus = "";  // of the run; empty where it has none
  Phrase trained = {};      // the nets behind the value
  std::string study = "";   // that measured it
  double seconds = 0;       // that its run took; 0: unknown
  double theory = std::numeric_limits<double>::quiet_NaN();  // NaN: none
  std::string not_run = "";                                  // why there is no value; empty: there is one
  std::vector<int64_t> looks = {};  // at how many seeds this value was looked at, now and before, increasing
  Phrase warning = {};              // of far_miss
  bool counts = true;               // false where a control of its run does not hold
  bool waits = false;               // the control of its experiment is open
  bool set_aside = false;  // over settings and not decided, beside parts of one setting: it does not count
  bool mistaken = false;   // not_run is a mistake of the file
  bool at_full_scale = false;  // its value is measured at the full scale alone, and this run was a quick one
  std::vector<ReachFinding> reaches = {};           // for each key of its reach
  std::optional<OverSettings> over = std::nullopt;  // of a part with `settings`
  std::vector<SettingsFactor> factors = {};         // and those of its design
};

struct Judged {
  const Claim* claim = nullptr;
  std::string verdict = "";          // one of verdict_words
  Phrase detail = {};                // of the verdict: on what it depends, what ends it, why it is not tested
  std::string how = "", where = "";  // of how_words and where_words; empty: it has no such tag
  Phrase reason = {};                // computed, with numbers
  std::vector<Finding> findings = {};  // by part
};

// Of a measured claim: false if a part of one statement does not hold; open if a control is undecided; depends if some
// parts hold and others do not; else open if a part is; else true, no difference or false. What a note leaves out changes no verdict.
Judged judge(const Claim& claim, const Runs& runs);

// "holds", "does not hold", "open".
const char* word_of(PartOutcome outcome);

// "depends: on the optimizer", "open: about 37 seeds, 2 min".
std::string verdict_text(const Judged& judged);

// "0.3373 [0.3323, 0.3465]": the mean with the rule's interval, or the value that all seeds share.
std::string value_text(const Finding& finding);

// Returns what the nets behind this value were and learned from, as the summary of its run says. Empty: no net was
// trained for it. A summary that says nothing of it gives "its run does not say on what".
Phrase trained_on(const Json& summary, const std::string& key);

// What the nets behind its values were and learned from, each once, and how large the text's are: "4 blocks of
// width 64, …; the text's size: 12 × 768". Empty where none was trained.
Phrase trained_on(const Judged& judged);

// How far the verdict on each part goes: "AdamW: holds at all sizes, 48 wide to 96 wide; Muon: …". Of a claim with
// several such parts each has its words before it.
Phrase reach_text(const Judged& judged);

// The parts as a table: measured values and seeds, theory, what was asked, the outcome or why there is none.
std::string parts_table(const Judged& judged);

Json to_json(const Judged& judged);

}  // namespace isobar::claims
