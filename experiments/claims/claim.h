// Claim: what a source says, cut into parts that a measured figure can bear out or not. The table of all of
// them is table.cpp; a verdict is computed from the summaries of finished runs, never written down.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "../harness/json.h"

namespace isobar::claims {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// How a part reads its figure.
enum class Sight {
  median,    // the median over the seeds lies in [low, high]
  every,     // the value of every seed does
  one_more,  // the printed value, low = high, could be one more seed (harness/stats.h)
};

// "The figure `key` of the run `run` lies in [low, high]."
struct Part {
  std::string_view says;  // in words: "a shift leaves LayerNorm's output as it is"
  std::string_view run;   // a run of reproduce: "norm_properties"
  std::string_view key;   // of its measured figures
  Sight sight = Sight::median;
  double low = -infinity, high = infinity;
  std::string_view why = "";  // the reason for these bounds
};

enum class Standing {
  tested,     // by its parts
  cited,      // a statement about a text, or an opinion: shown, not judged
  no_source,  // ascribed to a source that does not contain it
  not_run,    // cannot be run here
};

struct Claim {
  std::string_view id, source, printed;
  Standing standing = Standing::tested;
  // Of a claim that is one statement, e.g. a table, all parts must hold; else it may be true in part.
  bool one_statement = false;
  // For a tested claim what its parts leave out, which makes it "partly" at best; for the others the reason.
  std::string_view note = "";
  std::vector<Part> parts = {};
};

// All of them, in the order of their ids.
const std::vector<Claim>& table();

// The measured figures of runs by name; a run that is missing was not made.
using Measured = std::map<std::string, Json, std::less<>>;
// Why runs could not be made, by name: "mnist: no t10k-images-idx3-ubyte …".
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
