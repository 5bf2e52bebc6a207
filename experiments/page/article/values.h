// Values: what the article's text asks for between {{ and }}. Each is computed from data of the repository: kept
// runs, the verdicts that follow from them, and what documents say.
//
//   {{D06.1}} {{D06.1 printed}}       of the first part of claim D06: its value, what its text prints; or interval,
//                                     theory, seeds, measured, wanted, outcome, reach, over_printed
//   {{D06 verdict}} {{D06 reason}}    a field of the judged claim
//   {{quoted D06}}                    the quotation as printed, and its translation
//   {{count refuted}}                 how many claims have a verdict; "trained refuted", "claims", "texts"
//   {{kept RUN KEY}}                  the mean of any kept value; {{setting RUN NAME}} of its settings
//   {{said rules "where # seeds …"}}  the number at # of the only place in a document that has these words
//   {{closed medians}}                of the closed forms beside PyTorch's medians (closed_forms.h)
//   {{sources}} {{table rules "A better by"}}                a table
//   {{verdicts 006 007}} {{reach 000 001}}                   a table of these sources' claims, of their reach
//   {{wrong 006}}                     of these sources' claims those that are refuted, quoted
//   {{exact RUN KEY}}                 two cells: the first seed in nine digits, and the command that prints it
//   {{figure NAME}} {{chart NAME}}    a picture that is stored, that is drawn from kept values
//   {{ladder DyT=H04.1 Derf=J03.2}}   a picture of ladders, a curve for each optimizer; {{ladder tokens …}}: of tokens
//   {{registrations}} {{version}} {{date}}
//
// A number takes digits after a colon: {{D06.1:3}}. Conditions of {{if}}: "D06 refuted", "D06.1 holds", "judged K01"
// where it is there and kept, "reach 000 001" where a claim of these has one; "not" before each.
#pragma once

#include <map>

#include "../../claims/kept.h"

namespace isobar::article {

using Words = std::vector<std::string>;

// The texts whose files name a commit that had their claims and bounds before the first run, by that commit.
std::map<std::string, Words> registrations();

class Values {
 public:
  // `kept` must outlive this.
  explicit Values(const claims::Kept& kept);

  // What stands for {{word}}, as HTML. Throws Error where there is no such value.
  std::string html(const std::string& word) const;
  // Throws Error for a condition of no claim, text or run.
  bool is(const std::string& condition) const;

 private:
  std::string value_of_part(const Words& words, int digits) const;
  std::string count(const std::string& what) const;
  std::string date() const;
  std::string kept_value(const Words& words, int digits) const;
  std::string sources() const;
  std::string verdicts(const Words& sources) const;
  std::string reach(const Words& sources) const;
  std::string wrong(const Words& sources) const;
  std::string ladder(const Words& names) const;
  std::string exact(const std::string& run, const std::string& key) const;
  const Json& claim(const std::string& id) const;
  const Json& part(const std::string& name) const;
  const Json& measured(const std::string& run, const std::string& key) const;

  const claims::Kept& kept_;
  claims::Runs runs_;
  std::vector<claims::Judged> judged_;
  std::map<std::string, Json> claims_;  // as judged, by id
};

}  // namespace isobar::article
