// Tool: the command line of a program that does one thing and leaves no run.
//
//   std::string path;
//   int64_t count = 500;
//   Tool tool("isobar sample", "Draws text from a checkpoint.", "isobar sample runs/train_lm");
//   tool.word("CHECKPOINT", path, "the file that train_lm wrote");
//   tool.option("--max_new_tokens", count, "tokens to draw", at_least(1));
//   return tool.run(argc, argv, [&] { … });
//
// All tools take --help, --version and --threads. Exit codes: 0 done; 2 bad usage or input, with one line.
#pragma once

#include "program.h"

namespace CLI {
class App;
}  // namespace CLI

namespace isobar {

class Tool {
 public:
  // `example` stands on top of --help: commands, one a line.
  Tool(std::string name, const std::string& about, const std::string& example);
  ~Tool();
  Tool(const Tool&) = delete;
  Tool& operator=(const Tool&) = delete;

  // A word that must be there, in the order of these calls.
  void word(const std::string& name, std::string& value, const std::string& help);
  // An option, its default the value that it has now. "-o,--output" has a short form too. A bool is a flag.
  template <class T>
  requires std::constructible_from<SettingPointer, T*>
  void option(const std::string& flags, T& value, const std::string& help, const Limits& limits = {}) {
    add(flags, &value, help, limits);
  }
  // Words without number; of none, `values` stays as it is.
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help);
  // For what else CLI11 can do: subcommands.
  CLI::App& app() { return *app_; }

  // Whether the user gave this option, "--threads".
  bool given(const std::string& flag) const;

  // Parses the words after the name, sets the threads, runs the body. Returns the body's exit code, or 0.
  template <class Body>
  int run(const std::vector<std::string>& words, const Body& body) {
    if constexpr (std::is_void_v<decltype(body())>)
      return run_body(words, [&] { return body(), 0; });
    else
      return run_body(words, body);
  }
  template <class Body>
  int run(int argc, char** argv, const Body& body) {
    return run(std::vector<std::string>(argv + 1, argv + argc), body);
  }

 private:
  void add(const std::string& flags, const SettingPointer& value, const std::string& help,
           const Limits& limits);
  int run_body(const std::vector<std::string>& words, const std::function<int()>& body);

  std::string name_;
  std::unique_ptr<CLI::App> app_;
  std::optional<std::string> threads_;  // as typed
};

// Writes to stdout, or what a test has in its place, at once. Throws Error where that cannot be.
void write_out(std::string_view text, std::FILE* out = stdout);

// --- What the command lines of all programs have in common: long options may be spelled with - or _, an
// unknown one is refused with the nearest name, and the shell can complete them.

// The first word of a command line that asks for completions.
inline constexpr const char* complete_flag = "--complete";

// A row of the help: a name and what it means, wrapped below each other.
std::string help_row(const std::string& name, const std::string& meaning);

// What the user of a study typed, split into words and matched with options. Settings stay texts here.
struct CommandLine {
  std::optional<std::string> text;  // of --help, or the words that the shell may complete: all that is wanted
  RunOptions run = {};              // of them: folder, resume, json, force, accept_old
  bool version = false, about = false, print_config = false, profile = false;
  std::string config_file, printer;                                           // empty: not given
  std::optional<std::string> preset, seed, threads, log_level, rank_timeout;  // as typed
  std::vector<std::pair<std::string, std::string>> settings;  // those given, in the order of Config
};

// `config` has --help's defaults. Throws Error for unknown options and missing values.
CommandLine parse_command_line(const Program& program, HasFields& config,
                               const std::vector<std::string>& arguments);

}  // namespace isobar
