// Tool: the command line of a program that does one thing and leaves no run.
//
//   std::string path;
//   int64_t count = 500;
//   Tool tool("isobar sample", "Draws text from a checkpoint.", "isobar sample runs/train_lm");
//   tool.word("CHECKPOINT", path, "the file that train_lm wrote");
//   tool.option("--max_new_tokens", count, "tokens to draw");
//   return tool.run(words, [&] { … });
//
// All tools take --help, --version and --threads. Exit codes: 0 done; 2 bad usage or input, with one line on
// stderr.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

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
  // An option; the value that it has now is its default. "-o,--output" has a short form too.
  void option(const std::string& flags, std::string& value, const std::string& help);
  void option(const std::string& flags, int64_t& value, const std::string& help);
  void option(const std::string& flags, double& value, const std::string& help);
  void option(const std::string& flags, bool& value, const std::string& help);
  // An option that takes one of these words.
  void choice(const std::string& flags, std::string& value, const std::vector<std::string>& choices,
              const std::string& help);
  // For what else CLI11 can do: words without number, subcommands.
  CLI::App& app() { return *app_; }

  // Parses the words after the name, sets the number of threads, and runs the body. Returns the exit code.
  int run(const std::vector<std::string>& words, const std::function<void()>& body);

 private:
  void obey(const std::vector<std::string>& words, const std::function<void()>& body);

  std::string name_;
  std::unique_ptr<CLI::App> app_;
  std::optional<std::string> threads_;  // as typed
};

// Writes to stdout at once. Throws Error where that cannot be.
void write_out(std::string_view text);

}  // namespace isobar
