// NormTable: norms that texts propose, and what a duel of each against RMSNorm found (isobar duel --table).
//
//   const NormTable table = read_norm_table("experiments/norms.toml");
//   NormResults results(table);                              // experiments/norms.jsonl, or none yet
//   if (!results.of(table.norms[0], "shakespeare")) …        // it is missing, or of another contestant or settings
//   results.add(result);                                     // on the disk then
//
// The table is written by hand. Its results are a line of JSON for each norm and text, with the checksum of the line: a
// damaged one is refused. Whether a line that is whole is true, only its duel can say (isobar duel --table FILE --check).
//
// A table with second_flags has a second round: a norm that is better or worse on a text has another duel there, with these
// flags after the others, and another line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../run/json.h"

namespace isobar::duel {

struct ListedNorm {
  std::string name;        // "dyt_alpha_1": of folders and --only
  std::string title;       // "DyT, α = 1"
  std::string contestant;  // as `duel` takes it; a header's path begins at the table's folder
  std::string formula, source, about;
  int line = 0;  // of the table's file
};

enum class Round { first, second };

struct NormTable {
  std::string path;
  std::string against = "rmsnorm";
  std::string flags;         // of each duel
  std::string second_flags;  // "--optimizer muon"; empty: there is no second round
  int64_t max_pairs = 0;
  std::vector<std::string> texts;  // values of --task
  std::vector<ListedNorm> norms;

  // The flags of a duel of this round.
  std::string flags_of(Round round) const;
  // `norms.jsonl` for `norms.toml`.
  std::string results_path() const;
  // A contestant whose header's path begins at the working directory.
  std::string words_of(const std::string& contestant) const;
};

// Throws Error, with the line, for what is no table, and for a contestant that there is not or that stands there twice.
NormTable read_norm_table(const std::string& path);

class NormResults {
 public:
  // `table` outlives it. Throws Error for a line that is damaged, twice there, or of no norm of the table.
  explicit NormResults(const NormTable& table);

  // What is known of this norm on this text; null where it is missing, where contestant, header or settings were others,
  // where it was not decided by fewer pairs than the table asks for, and in the second round where wants_second() is false.
  const Json* of(const ListedNorm& norm, const std::string& text, Round round = Round::first) const;
  // Whether there is a second round, and the norm is better or worse in the first.
  bool wants_second(const ListedNorm& norm, const std::string& text) const;
  // Takes the place of another result of this norm, text and round, and of those that are of no round any more. Writes the
  // file, with a norm's lines in the order of the table.
  void add(Json result);

  // The part of a result that says which duel it is of.
  Json key_of(const ListedNorm& norm, const std::string& text, Round round = Round::first) const;

 private:
  const NormTable& table_;
  std::vector<Json> lines_;
};

// What a finished duel's folder says, in the order of the file: outcome, interval, rates, the checksum of its pairs; then
// what differs from run to run: "timing", "commit".
Json result_in(const std::string& folder);
// The first field, but for those that differ from run to run, in which two results differ: "low is -0.5 in the table's
// results, and -0.4 when it is run again"; "" where there is none.
std::string difference_of_results(const Json& kept, const Json& again);

// The norms of a table and their results, for documents.
Json facts_of(const NormTable& table);

}  // namespace isobar::duel
