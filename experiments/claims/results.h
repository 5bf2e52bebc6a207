// Judging: claims are judged and shown as soon as the last run that they need was made, a table for each run.
#pragma once

#include <set>

#include "file.h"
#include "plan.h"
#include "verdict.h"

namespace isobar::claims {

// The part that shows why the verdict is what it is: the first that leaves the claim open, else the first
// that does not hold, else, if the claim is false, the first that shows no difference, else the first; null
// where the claim has none.
const Finding* deciding_part(const Judged& judged);

// What the claim says, and in brackets what its nets were trained on.
std::string says_text(const Judged& judged);

class Judging {
 public:
  // `detail`: each part is shown, not the deciding one alone. `earlier`: claims of an earlier verify into this
  // folder, as claims() gave them, which are not judged now and stay as they are.
  Judging(Run& run, const std::vector<ClaimFile>& files, std::string scale, bool detail,
          Json earlier = Json::array());

  // Judges the claims that need none of the runs `ahead`, and prints, if asked, those not judged before.
  void settle(const Runs& runs, const std::set<std::string>& ahead, bool print_table);

  // All claims in the order of their ids, for summary.json: those that wait have the verdict "still to come".
  Json claims() const;
  // How many claims have each verdict, in the order of verdict_words.
  Json counts() const;
  // claims.csv, the counts and what is implied or without a source, once all claims are judged.
  void publish();

 private:
  struct Row {
    const Claim* claim;
    bool settled = false;
    Judged judged;
    Json kept;  // kept_verdict() of it
  };
  void print(const std::vector<const Row*>& rows);
  void print_parts(const Row& row);

  Run& run_;
  std::string scale_;
  bool detail_;
  Json earlier_;
  std::vector<Row> rows_;  // by id
};

// --- What the texts claim of one run, judged as soon as it is measured, for a study's own output.

// Says of each claim that this run is enough to judge what was printed and measured, and the verdict.
void say_verdicts(Run& run, const std::string& name);

// The values that the texts print of `key` of this run, by the number that replaces the {}:
// printed_values("blog8", "layer{}.std", 8) are eight, NaN where nothing is printed.
std::vector<double> printed_values(const std::string& name, const std::string& key, size_t count);

}  // namespace isobar::claims
