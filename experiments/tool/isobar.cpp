// isobar: the tool. Its first word says what to do; `isobar --help` lists what there is.
//
//   isobar verify --quick         the quick runs that claims need, and a verdict on each claim of the texts
//   isobar decay_study --depth 8  a study: the program of this name beside isobar
//
// Verbs are in tool/. Exit codes are those of verb or study; 2 for a word that is neither.
#include <fmt/ranges.h>

#include <filesystem>

#include "../../data/utf8_stream.h"
#include "../run/environment.h"
#include "../run/lists.h"
#include "../run/program.h"
#include "../run/tool.h"
#include "verbs.h"

using namespace isobar;

namespace isobar::fixtures {
extern const char completion[];  // tool/completion.bash
}

namespace {

// isobar completion: the script with which bash completes all words.
int completion(const verbs::Words& words) {
  std::string shell;
  Tool tool("isobar completion",
            "Prints a script with which a shell completes words for isobar and the studies.",
            "source <(isobar completion bash)");
  tool.word("SHELL", shell, "bash");
  return tool.run(words, [&] {
    check(shell == "bash", "SHELL: wanted bash, got {}", shell);
    write_out(fixtures::completion);
  });
}

struct Verb {
  std::string name, about;
  int (*run)(const verbs::Words& words);
};

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> all = {
      {"verify", "run the studies that claims need, and print a verdict on each claim", verbs::verify},
      {"doubt", "check whether the numbers printed in a text can come from the code printed beside them",
       verbs::doubt},
      {"bench", "compare training steps with the limits of this machine", verbs::bench},
      {"report", "write an HTML report of finished runs and claims", verbs::report},
      {"facts", "write all claims, verdicts, runs and studies as JSON", verbs::facts},
      {"watch", "show the progress of a run of train_lm", verbs::watch},
      {"sample", "draw text from a checkpoint of train_lm", verbs::sample},
      {"evaluate", "compute loss and perplexity of a checkpoint on a text", verbs::evaluate},
      {"export", "write a model.safetensors for Hugging Face", verbs::export_model},
      {"import", "convert a model.safetensors to a checkpoint", verbs::import_model},
      {"tokenize", "learn a tokenizer; turn text into tokens, and tokens into text", verbs::tokenize},
      {"prepare", "convert text files to one file of tokens for train_lm", verbs::prepare},
      {"completion", "print a bash completion script", completion},
  };
  return all;
}

verbs::Words names_of_all() {
  verbs::Words names;
  for (const Verb& verb : all_verbs()) names.push_back(verb.name);
  names.insert(names.end(), study_names().begin(), study_names().end());
  return names;
}

std::string help() {
  std::string text =
      "isobar: tests published claims about normalization by measurement.\n\n"
      "  isobar verify --claim D06  check one published claim\n\n"
      "Commands:\n";
  for (const Verb& verb : all_verbs()) text += help_row(verb.name, verb.about);
  text += "\nStudies (build/bin/STUDY, or isobar STUDY):\n";
  for (const Json& study : ask_studies()) text += help_row(study["name"], study["question"]);
  return text +
         "\n`isobar COMMAND --help` describes a command. `isobar --version` prints the\n"
         "version; `isobar --about` lists all studies as JSON.\n";
}

bool is_program_name(const std::string& word) {
  return !word.empty() &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// Becomes the program beside this one, with these words. Returns where there is none.
void become_study(const std::string& name, const verbs::Words& words) {
  const std::filesystem::path path = std::filesystem::path(own_path()).parent_path() / name;
  if (is_program_name(name) && std::filesystem::is_regular_file(path)) become(path.string(), words);
}

std::string names_that_begin(const std::string& beginning) {
  std::string names;
  for (const std::string& name : names_of_all())
    if (name.starts_with(beginning)) names += name + "\n";
  return names;
}

int obey(verbs::Words words) {
  if (words.empty()) words = {"--help"};
  const bool completing = words[0] == complete_flag;
  if (completing && words.size() < 3) {
    write_out(names_that_begin(words.size() == 1 ? "" : words.back()));
    return 0;
  }
  // The verb or study completes its own words.
  if (completing) std::swap(words[0], words[1]);
  const std::string name = words[0];
  words.erase(words.begin());
  if (name == "--about") {
    write_out(json_text(ask_studies()));
    return 0;
  }
  if (name == "--help" || name == "-h" || name == "--version") {
    write_out(name == "--version" ? fmt::format("isobar {}\n", isobar_version()) : help());
    return 0;
  }
  if (name == "duel") return verbs::duel(words);
  if (const auto verb = std::ranges::find(all_verbs(), name, &Verb::name); verb != all_verbs().end()) {
    check(
        !Ranks::launched(),
        "{}: this command is one process, which cannot share its work; start it without mpirun (studies can: {})",
        name, "mpirun -n 4 train_lm …");
    return verb->run(words);
  }
  become_study(name, words);
  check(
      name != "article" || completing,
      "there is no command 'article' any more: the article is docs/article.md of the source tree, and `docs/render --pdf "
      "article.pdf` prints it");
  const std::string hint = did_you_mean(name, names_of_all());
  check(completing, "there is no command or study '{}'{}", one_line(name),
        hint.empty() ? "; isobar --help lists them" : hint);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  begin_process();
  return exit_code_of("isobar", stderr, [&] { return obey({argv + 1, argv + argc}); });
}
