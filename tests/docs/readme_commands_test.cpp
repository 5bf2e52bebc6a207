// Every command of build/bin/ that a document shows is run, made small by words after it: later words win.
#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <regex>

#include "../../experiments/run/json.h"
#include "../run.h"
#include "documents.h"

namespace isobar::readme_commands_test {

// What makes a program's commands take no second: of a study, its preset tiny. Other verbs take none.
const std::map<std::string, std::string>& shrunk() {
  static const std::map<std::string, std::string> all = [] {
    std::map<std::string, std::string> words = {
        {"isobar verify", "--only blog8 --claim D06 --out runs/verify --force"},
        {"isobar export", "--force"},
        {"isobar import", "--force"},
        {"isobar prepare", "--force"},
        {"bench", "--list"}};
    for (const Json& study : Json::parse(run_built("isobar", "--about").out))
      words[study["name"]] = study["presets"]["tiny"].get<std::string>() + " --force";
    words["isobar duel"] = words["duel"];
    return words;
  }();
  return all;
}

struct Command {
  std::string program, arguments;
};

// The commands in a README's blocks, without "build/bin/" and without what is said of them.
std::vector<Command> commands_of(const std::string& readme) {
  std::istringstream lines(file_text(ISOBAR_SOURCE_DIR "/" + readme));
  std::vector<Command> commands;
  const std::regex shown("^build/bin/((?:isobar )?\\w+)(.*)$");
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    line = line.substr(0, line.find("  "));
    if (std::regex_match(line, parts, shown)) commands.push_back({parts[1], parts[2]});
  }
  return commands;
}

const char* const claims_readme = "experiments/claims/README.md";

// The example file that a README shows.
std::string toml_of(const std::string& readme) {
  const std::string text = file_text(ISOBAR_SOURCE_DIR "/" + readme), begin = "```toml\n";
  const size_t at = text.find(begin);
  REQUIRE(at != std::string::npos);
  return text.substr(at + begin.size(), text.find("```", at + begin.size()) - at - begin.size());
}

// As it is, or made small.
std::string small_arguments(const Command& command) {
  const auto row = shrunk().find(command.program);
  const bool shrinks = row != shrunk().end();
  REQUIRE_MESSAGE((shrinks || command.program.starts_with("isobar ")), command.program, " is not known here");
  // 87 nets that no flag makes fewer, a study of time that takes seconds whatever its flags (norm_speed_test
  // runs it), and --print-model, which trains nothing, of one layer.
  if (holds(command.arguments, "depth_table") || command.program == "norm_speed")
    return command.arguments + " --print-config";
  // The walk of nn/README.md compiles a header.
  const std::string words = std::regex_replace(command.arguments, std::regex("my_norm.h"), "dyt");
  // Studies, duels and presets of trainings have tests that run them: here their flags are read, and they are run
  // in .ci/long rest. A training that leaves a run for other commands, or reads a file, is run.
  static const std::regex apart("^(isobar (?!duel)|bench|decay_study)"),
      files("runs/|--corpus|--print|--profile|--tape");
  const bool training = command.program == "train_lm" && std::regex_search(words, files);
  if (std::getenv("ISOBAR_THOROUGH") == nullptr && !training && !std::regex_search(command.program, apart))
    return words + " --print-config";
  if (holds(command.arguments, "--print-model")) return command.arguments + " --n_layer 1";
  if (holds(command.arguments, "--replay")) return command.arguments;
  if (holds(command.arguments, "mine.toml")) return command.arguments + " --force";
  if (holds(command.arguments, "train --vocab_size")) return command.arguments + " --vocab_size 280 --force";
  // isobar verify was run for blog8 alone: pictures of other studies come from runs of those.
  if (command.program == "isobar report")
    return std::regex_replace(command.arguments, std::regex("runs/verify --svg ((?!blog8)\\w+)"),
                              "runs/verify/$1 --svg $1");
  // What a run is resumed with must be what it began with.
  if (holds(command.arguments, "--resume")) return command.arguments + " --force";
  return words + " " + (shrinks ? row->second : "");
}

TEST_CASE("the commands that READMEs show for studies and trainings run one after the other") {
  const TemporaryFolder folder;
  std::string text = "ROMEO:\n";
  for (int i = 0; i < 400; ++i) text += "the rain in Spain, " + std::to_string(i % 13) + " times\n";
  for (const char* name : {"my.txt", "corpus.txt", "story.txt"}) folder.write(name, text);
  folder.write("a.jsonl", "{\"text\": \"to be\"}\n{\"text\": \"or not to be\"}\n");
  REQUIRE(run_command("gzip -k corpus.txt", folder.path()).code == 0);
  folder.write("experiments/page/figures/here", "");
  folder.write("mine.toml", toml_of(claims_readme));
  ran("isobar prepare", "my.txt -o tokens.safetensors", folder.path());
  ran("isobar tokenize", "train --vocab_size 280 my.txt -o bpe.json", folder.path());

  size_t count = 0;
  for (const std::filesystem::path& path : documents()) {
    const std::string readme = std::filesystem::relative(path, ISOBAR_SOURCE_DIR);
    // Trained models that they use.
    if (readme.starts_with("experiments/tool/"))
      ran("train_lm", "--corpus my.txt --tokenizer char --out runs/train_lm " + shrunk().at("train_lm"),
          folder.path());
    for (const Command& command : commands_of(readme)) {
      if (command.program == "isobar_tests") continue;  // this program itself
      // Runs that report is shown with.
      if (command.program == "isobar report" && holds(command.arguments, "runs/a ")) {
        for (const std::string run : {"runs/a", "runs/b", "runs/verify/blog8_rmsnorm"})
          REQUIRE(run_built("decay_study", "--tiny --force --out " + run, folder.path()).code <= 1);
        const std::pair<const char*, std::string> made[] = {{"depth_trainability", "depth_trainability"},
                                                            {"norm_jacobian", "norm_jacobian"},
                                                            {"logit_growth", "logits_shakespeare"}};
        for (const auto& [name, run] : made) {
          const std::string arguments = "--out runs/verify/" + run + " " + shrunk().at(name);
          REQUIRE(run_built(name, arguments, folder.path()).code <= 1);
        }
      }
      const std::string arguments = small_arguments(command);
      CAPTURE(readme);
      CAPTURE(command.program);
      CAPTURE(arguments);
      const Outcome outcome = run_command("\"$BIN\"/" + command.program + " " + arguments, folder.path());
      INFO(outcome.out, outcome.err);
      // 1: an expectation was not met, as may be with something so small.
      if (outcome.code != 0) {
        CHECK(outcome.code == 1);
        const bool diverges = holds(command.arguments, "--out runs/bad ");
        CHECK(holds(outcome.err, diverges ? "--replay runs/bad/bad_step.safetensors" : "EXPECTATION FAILED"));
      }
      ++count;
    }
  }
  CHECK(count >= 60);
  CHECK(file_text(folder / "again.txt") == text);  // encoded, and decoded
}

}  // namespace isobar::readme_commands_test
