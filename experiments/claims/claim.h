// Claim: what a source says, cut into parts that a measured value can bear out or not. Claims are data: a file
// of them, one source each, is read by file.h, and a verdict is computed from finished runs by judge.h.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace isobar::claims {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

// How a part reads its measured value.
enum class Rule {
  median,         // the median over the seeds lies in [low, high]
  every_seed,     // the value of every seed does
  one_more_seed,  // the printed value, low = high, could be one more seed (harness/stats.h)
};

// "The value `key` of the run `run` lies in [low, high]."
struct Part {
  std::string says;  // in words: "a shift leaves LayerNorm's output as it is"
  std::string run;   // of the file's runs: "norm_properties"
  std::string key;   // of its measured values
  Rule rule = Rule::median;
  double low = -infinity, high = infinity;
  std::string why = "";  // the reason for these bounds
  int line = 0;          // of the file
};

enum class Standing {
  tested,     // by its parts
  cited,      // a statement about a text, or an opinion: shown, not judged
  no_source,  // ascribed to a source that does not contain it
  not_run,    // cannot be run here
};

struct Claim {
  std::string id, source, printed;
  Standing standing = Standing::tested;
  // Of a claim that is one statement, e.g. a table, all parts must hold; else it may be true in part.
  bool one_statement = false;
  // For a tested claim what its parts leave out, which makes it "partly" at best; for the others the reason.
  std::string note = "";
  std::vector<Part> parts = {};
  int line = 0;
};

// A study of this build with its flags; those of `quick` or `full` are added by the scale.
struct RunSpec {
  std::string name, study;
  std::vector<std::string> flags, quick, full;
  int line = 0;
};

struct Source {
  std::string id, title, title_en, author, date, address;
};

struct ClaimFile {
  std::string path;
  Source source;
  std::vector<RunSpec> runs;
  std::vector<Claim> claims;
};

}  // namespace isobar::claims
