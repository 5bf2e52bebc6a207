// Claim: what a source says, cut into parts that a measured value can bear out or not. Claims are data: a
// file of them, one source each, is read by file.h, and a verdict is computed from finished runs by
// verdict.h.
// What the fields mean to a person who writes such a file is in README.md of this folder.
#pragma once

#include <fmt/format.h>

#include "../page/charts/plot.h"
#include "rules.h"

namespace isobar::claims {

// "The value `key` of the run `run` lies where `predicate` says."
struct Part {
  Phrase says;      // in words: "a shift leaves LayerNorm's output as it is"
  std::string run;  // of the file's runs: "norm_properties"
  std::string key;  // of its measured values
  // Another of them, seed by seed subtracted, added, or divided by; at most one of the three.
  std::string minus = "", plus = "", over = "";
  Predicate predicate;
  std::string word;        // "about", "better", "as_good" where it gives the bounds; else empty
  Phrase why;              // the reason for these bounds
  bool full_only = false;  // its value is measured at the full scale alone
  bool control =
      false;  // says whether its run can tell what the claim asks, and is no part of what the text says
  // Of a run with several: a control of one speaks of the parts of that one alone.
  std::string experiment = "";
  bool pooled = false;    // of a ladder: `key` is without its rung, and all rungs decide
  bool settings = false;  // of a study of settings: `key` is without its setting, and all settings decide
  int line = 0;           // of the file
  // Its reach (reach.h): the keys of a ladder, without their ".rung1", and the ladder's run.
  std::vector<std::string> reach = {};
  std::string reach_run = "";
  bool of_ladder = false;  // its own run is a ladder, which `verify --full --ladder` makes

  const std::string& other() const { return !minus.empty() ? minus : !plus.empty() ? plus : over; }
  bool reads(const std::string& name) const { return run == name || (!reach.empty() && reach_run == name); }
  // The keys of a value in each of so many places: ".rung1", … of a ladder, ".setting1", … of a study of settings.
  static std::vector<std::string> in_places(const std::string& key, const std::string& place, size_t places) {
    std::vector<std::string> keys;
    for (size_t i = 1; i <= places; ++i) keys.push_back(fmt::format("{}.{}{}", key, place, i));
    return keys;
  }
  static std::vector<std::string> on_rungs(const std::string& key, size_t rungs) {
    return in_places(key, "rung", rungs);
  }
  static std::vector<std::string> in_settings(const std::string& key, size_t settings) {
    return in_places(key, "setting", settings);
  }
  // All keys that it reads in the values of this run: its own, and those of its reach. `places`: how many rungs a ladder
  // has, or settings a study of them.
  std::vector<std::string> keys_in(const std::string& name, size_t places) const {
    std::vector<std::string> keys;
    const auto add = [&](std::vector<std::string> more) {
      std::ranges::move(more, std::back_inserter(keys));
    };
    if (run == name)
      add(pooled ? on_rungs(key, places) : settings ? in_settings(key, places) : std::vector{key});
    if (run == name && !other().empty()) add({other()});
    if (reach_run == name)
      for (const std::string& one : reach) add(on_rungs(one, places));
    return keys;
  }
};

// What the words of a passage do to the claim. Reading the file checks that the quotation has or lacks them.
enum class Bearing {
  bears_out,    // the quotation has them, and the claim holds
  contradicts,  // it has them, and the claim does not hold
  lacks,        // the claim needs them, and the quotation has them not
};
inline const std::vector<std::string> bearing_words = {"bears_out", "contradicts", "lacks"};

// A quotation that was read.
struct Passage {
  std::string title, address, quote, words = {};
  Bearing bearing = Bearing::bears_out;
  Phrase reading;    // what follows for the claim
  std::string read;  // the date

  bool holds() const { return bearing == Bearing::bears_out; }
};

enum class Kind {
  definition,  // by its parts, which are identities, or by a test: they hold, or this build has a bug
  source,      // a statement about a text that was read: by its passages
  cited,       // a statement about a text that could not be read: shown, not judged
  not_run,     // cannot be run here
  measured,    // by its parts
};
inline const std::vector<std::string> kind_words = {"definition", "source", "cited", "not run"};

struct Claim {
  std::string id, source;       // of a claim that two texts make: "002, 003"
  std::string quote, quote_en;  // as printed, and its translation
  Phrase says;                  // what is tested
  Phrase implied;               // how it follows from the quotation, where it is nowhere printed
  Phrase no_source;             // the source that the text names and that does not contain it
  Kind kind = Kind::measured;
  // Of a claim that is one statement, e.g. a table, all parts must hold; else it may be true in part.
  bool one_statement = false;
  bool on_gpu = false;  // about GPUs, or of a machine unnamed: a CPU cannot refute it
  bool may = false;     // "may": that something exists, which the tasks tried can bear out but not refute
  Phrase depends_on;    // what decides which parts hold, where some do: "the optimizer"
  Phrase note;          // of a measured claim what its parts leave out, of the others the reason
  Phrase paper_size;    // how large the text's own nets are: "12 × 768, 300,000 steps"
  Phrase remark;        // what a reader may object, answered; it changes no verdict
  std::string test;     // of a definition that a test of ours checks, in place of parts: its name
  std::vector<Part> parts;
  std::vector<Passage> passages;
  int line = 0;
};

// A study of this build with its flags; those of `quick` or `full` are added by the scale.
struct RunSpec {
  std::string name, study;
  std::vector<std::string> flags = {}, quick = {}, full = {};
  int line = 0;
};

struct Source {
  std::string id, title, title_en, author, date, address;
  // The commit that had its claims and bounds before the first run; empty: none is said.
  std::string registered;
  // What the text consists of, with what runs it: "table 2.1 | D01 D41", "trained | `train_lm --preset x`".
  std::vector<std::string> items;
};

struct ClaimFile {
  std::string path;
  bool shipped = false;  // one of those that come along, which need no path on the command line
  Source source;
  std::vector<RunSpec> runs;
  std::vector<Claim> claims;
};

}  // namespace isobar::claims
