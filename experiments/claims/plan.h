// The plan: which runs the files of claims need, each once.
#pragma once

#include "../run/run.h"
#include "claim.h"
#include "limit.h"
#include "toml_table.h"

namespace isobar::claims {

struct PlannedRun {
  std::string name;     // in the files
  std::string folder;   // of its results: those of the full scale do not replace those of the quick one
  std::string program;  // beside this one
  std::vector<std::string> arguments;
  std::string where;      // "mine.toml, line 9", for messages
  std::string path = "";  // of a program in its place, which the user named; empty: the one beside this one
  bool shipped = false;   // of a file that came along: it is trusted with all memory and time
};

// In the order of the files, at "quick" or "full" scale. Throws Error where two files give two runs one name.
std::vector<PlannedRun> plan(const std::vector<ClaimFile>& files, std::string_view scale);

// --- RunSpec, read: which study a file of claims asks for, and with which flags. An untrusted file names no
// program but the studies of this build, no path, and none of the flags that are the user's.

// The studies that a file may name.
std::vector<std::string> studies();

// "print_config" of --print-config, --print_config and --print-config=1; empty for a word that is no flag.
std::string setting_of(const std::string& word);

// The table `[run.NAME]`. Throws Error for what it may not say, with its line.
RunSpec read_run(const std::string& name, TomlTable& table);

// --- Runs are made as child processes, each in a folder of its own, unless they are there already.

// What a study's --print-config says of these flags. Throws Error, beginning with `where`, for flags that
// it refuses, and for those that are none of its settings.
Json config_of(const PlannedRun& planned, int64_t seed, const std::string& where);

// The seeds of such a run, and how to have more: "seeds 0 … 19; more: decay_study --depth 8 --seeds 200"; of a
// user's file, where to write that. Empty where it has no seeds.
std::string seeds_text(const PlannedRun& planned, const Json& config);

// Returns the summary of a run of these settings, cut to a seed and a few steps: null where it failed, or where half
// a minute of a thread was not enough.
Json rehearse(const Run& run, const PlannedRun& planned, const Json& config);

// The keys of this study's values that are kept (--about).
std::vector<std::string> kept_keys(const PlannedRun& planned);

// Whether a finished run of this configuration is in its folder below run's: of the same sources and data as now, or
// the user accepts old ones.
bool is_made(const Run& run, const PlannedRun& planned, const Json& config);

// The command that makes this run below a folder, unless it is there already: a line for a shell, which may be run any
// number of times.
std::string command_of(const PlannedRun& planned, const std::string& folder, int64_t seed,
                       const Json& config);

struct Made {
  Json summary;                   // null where the run failed
  std::string complaint;          // of the run that failed
  bool cannot_run = false;        // for it needs what is not here
  bool refused = false;           // for the study refuses the settings of a user's file
  std::string accepted_old = "";  // why it may measure something else now, where it was taken nevertheless
};

// Makes one run, unless is_made(), within `most` where that is given. Says why it is made where one is there of other
// sources or data. One that fails, or fails its expectations, is an expectation of `run` that is not met.
Made make_run(Run& run, const PlannedRun& planned, const Json& config, const std::optional<Limit>& most);

}  // namespace isobar::claims
