// Kept: what the last full runs of the texts' claims measured. In full.json a run has one line, with its
// settings, commit, machine and seconds, and each value that some part reads another, with all seeds.
// Sentences, bounds and verdicts are those of the claims and rules of today.
#pragma once

#include "file.h"
#include "pace.h"
#include "plan.h"
#include "verdict.h"

namespace isobar::claims {

class Kept {
 public:
  // Throws Error for what is no such file.
  explicit Kept(std::string_view text);
  // What this program was built with.
  static const Kept& shipped();

  // A run and a value, a line each.
  std::string text() const;

  // Takes what parts of the files read of this finished run in place of what was kept: values at the full
  // scale, at any scale its seconds. Other numbers of seeds are further looks. Throws Error for a run that
  // failed a check of its own, tells no commit or date or what it trained nets on, read data that do not come with Isobar, or lacks a value.
  void take(const PlannedRun& run, const Json& summary, const std::vector<ClaimFile>& files,
            std::string_view scale);
  // Drops runs and values that the files read no more.
  void drop_unread(const std::vector<ClaimFile>& files);

  // What judge() takes: the runs that are kept with the settings that the files ask for now.
  Runs runs(const std::vector<ClaimFile>& files) const;
  // The line of a run; null where it is not kept.
  Json run(const std::string& name) const;
  // Each run's seconds at this scale.
  std::map<std::string, double> seconds(const std::string& scale) const;

 private:
  std::map<std::string, Json> runs_;                            // by name
  std::map<std::pair<std::string, std::string>, Json> values_;  // by run and key
};

// The verdict of a claim by what Kept::runs() gave: "not kept yet" where a value of it is missing.
inline constexpr const char* not_kept = "not kept yet";
Judged judge_kept(const Claim& claim, const Runs& kept);

// The source tree that this program was built of.
std::string source_tree();

// Which commits measured these claims, and when: "84cfa14a1b2c, 2026-11-23, 3 commits ago". How long ago is
// known where the program can see the work tree that it was built of; `ago` asks for it.
std::string kept_at(const std::vector<const Claim*>& claims, const Kept& kept, bool ago = true);

}  // namespace isobar::claims
