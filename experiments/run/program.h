// run_program: a study's main, whole.
//
//   int main(int argc, char** argv) {
//     Config config;
//     return run_program({.name = "decay_study", .about = "How deep nets lose their signal.",
//                         .trained = trains_no_nets}, config, argc, argv, [&](Run& run) { … });
//   }
//
// Every field of Config is a flag (`--depth 8`; a bool is `--flag`, `--no-flag` or `--flag=false`), and so is
// each preset (--full). README.md of this folder has the flags of all programs, their files and exit codes.
#pragma once

#include <set>

#include "../../core/fields.h"
#include "run.h"
#include "table.h"

namespace isobar {

struct Preset {
  std::string name, about;
  std::string flags = {};  // that it stands for: "--depth 100 --bias=false"
};

// --resume DIR: a run goes on where another stopped. Its settings are that run's; flags may repeat them.
struct Resume {
  // What --print-config printed for the run in this folder.
  std::function<std::string(const std::string& folder)> config;
  std::vector<std::string> may_differ;  // settings that a flag may give another value
  std::string begins_with;              // the flag by which a new run begins with what that one ended with
};

// A flag that prints something and stops, as --print-config does: `--<flag>`, or `--<flag> FILE`.
struct Printer {
  std::string flag, about;
  std::function<std::string()> text;  // called once Config has its final state
  std::string* file = nullptr;        // where FILE goes; null: the flag takes none
  bool writes = false;                // FILE is written: one that is there only with --force
  // In place of `text`, for what depends on the folder, the preset or the seed too.
  std::function<std::string(const RunOptions&)> text_of_run = {};
};

// Words of the command line that are no options: files, say.
struct Positionals {
  std::string name, about;                     // "FILE"
  std::vector<std::string>* values = nullptr;  // where they go; null: the program takes none
};

// Settings that may differ between a finished run and the one that replaces it.
struct MayDiffer {
  std::vector<std::string> settings = {};
  std::vector<std::string> may_grow = {};  // and these where they become larger; 0 is the largest
  bool all = false;
};

struct Program {
  std::string name;          // of the executable, of the default folder runs/<name>
  std::string about;         // for --help: question, claim and source; may have several lines
  std::string example = {};  // for --help: commands that a user would type first, one a line
  std::string page = {};     // what was found: a document below experiments/
  // What the nets behind its values were and learned from; a program that does not say it is refused at its start.
  std::vector<TrainedOn> trained = {};
  std::vector<Preset> presets = {};  // the first is used when no --preset is given
  // The preset "tiny", flags that make the first preset a matter of a second: "--depth 2 --seeds 1".
  std::string tiny = {};
  std::vector<Printer> printers = {};
  std::optional<Resume> resume = std::nullopt;
  std::string command = {};                     // as the user typed it; empty: the name
  std::string folder = {};                      // the default one; empty: runs/<name>
  std::function<std::string()> folder_of = {};  // the default one where it depends on the settings
  Positionals positionals = {};
  std::string* output = nullptr;  // where the FILE of `-o FILE` goes; null: the program takes none
  std::vector<std::string> first_settings = {};  // those that --help shows; empty: all, as --help-all does
  bool shares = false;   // its trainings are those of a Grid: several processes may share its folder
  bool profiles = true;  // takes --profile; false: it measures times itself, or runs nothing itself
  // A finished run of it in the folder is replaced without --force, if its settings are these but for those named.
  std::optional<MayDiffer> goes_on = std::nullopt;
  bool accepts_old = false;  // takes --accept-old, as those that go on do: it uses finished runs of its own
  // Called when Config has the user's values, unless a run is resumed, with the names of the settings that
  // file and flags gave: may make others fit. The run begins with its sentences.
  std::function<std::vector<std::string>(const std::set<std::string>& given)> settle = {};
  // Called then, with every field within its limits: throws Error where two of them do not go together.
  std::function<void()> check = {};

  std::string default_folder() const { return folder.empty() ? "runs/" + name : folder; }
};

// In which settings two configurations differ, but for those named: "depth is 8 there, 9 here". "" for none.
std::string differences_between(const Json& there, const Json& here,
                                const std::vector<std::string>& may_differ);

// The names of the presets, "tiny" last where the program has it.
std::vector<std::string> preset_names(const Program& program);

struct Streams {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
};

// What --rank_timeout says, before the words are parsed: ranks wait for each other by then. The last one
// counts; 300 where there is none, or none that can be read.
double rank_timeout_in(const std::vector<std::string>& arguments);

int run_program(const Program& program, HasFields& config, int argc, char** argv,
                const std::function<void(Run&)>& body);
// The same with the arguments after the program's name, and other streams; for tests.
int run_program(const Program& program, HasFields& config, const std::vector<std::string>& arguments,
                const std::function<void(Run&)>& body, Streams streams = {});

// --- About: what a program says of itself with --about. Whoever lists studies reads it: the tool, its
// completion, CTest, the documents, and tests, which run each study's preset tiny.
//
//   {"name": "majority", "question": "Does …?", "page": "experiments/studies/majority/README.md", "ranks": true,
//    "sources": "0c34a35692c9b7f3", "presets": {"tiny": "--depths 1 --steps 2"}, "seconds": {"quick": 7.9, "full": 40.1},
//    "keys": ["layernorm_over_rmsnorm.L1.steps", …]}
//
// A preset stands for these flags; `seconds` and `keys` are of the runs kept for claims (claims/full.json).

// The programs of experiments/ but isobar, in the order of the alphabet. CMake makes the list of the files.
const std::vector<std::string>& study_names();

// What those say that stand beside this very program.
std::vector<Json> ask_studies();

}  // namespace isobar
