// CommandLine: what the user typed, split into words and matched with options. Settings stay texts here.
#pragma once

#include "program.h"
#include "settings.h"

namespace isobar {

// Where a program's results go unless --out says otherwise.
std::string default_folder(const Program& program);

struct CommandLine {
  bool help = false, completing = false;  // all that is wanted is `text`
  bool version = false, about = false, print_config = false, json = false, force = false, profile = false;
  std::string out, config_file, resume, printer;                              // empty: not given
  std::optional<std::string> preset, seed, threads, log_level, rank_timeout;  // as typed
  std::vector<std::pair<std::string, std::string>> settings;  // those given, in the order of Config
  std::string text;  // of --help, or the words that the shell may complete
};

// `settings` are Config's fields with --help's defaults. Throws Error for unknown options and missing values.
CommandLine parse_command_line(const Program& program, const std::vector<Setting>& settings,
                               const std::vector<std::string>& arguments);

// What --rank_timeout says, before the words are parsed: ranks wait for each other by then. The last one
// counts; 300 where there is none, or none that can be read.
double rank_timeout_in(const std::vector<std::string>& arguments);

}  // namespace isobar
