// isobar: the tool. Its first word says what to do; `isobar --help` lists what there is.
//
//   isobar verify --quick         every study small, and a verdict on each claim of the five texts
//   isobar decay_study --depth 8  a study: the program of this name beside isobar
//
// Each verb is one file in verbs/. Exit codes are those of the verb or the study; 2 for a word that is neither.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "harness/child.h"
#include "harness/environment.h"
#include "harness/nearest.h"
#include "verbs/verbs.h"

using namespace isobar;

namespace {

struct Verb {
  std::string name, about;
  int (*run)(const verbs::Words& words);
};

const std::vector<Verb>& all_verbs() {
  static const std::vector<Verb> all = {
      {"verify", "run the studies that claims need, and judge every claim", verbs::verify},
      {"report", "write one page of finished runs: claims, charts, settings", verbs::report},
      {"watch", "show how a run of train_lm goes, while it goes or afterwards", verbs::watch},
      {"sample", "draw text from a checkpoint of train_lm", verbs::sample},
      {"evaluate", "loss and perplexity of a checkpoint on a text", verbs::evaluate},
      {"export", "write a checkpoint as model.safetensors for Hugging Face", verbs::export_model},
      {"import", "read model.safetensors into a checkpoint", verbs::import_model},
      {"tokenize", "learn a BPE tokenizer; turn text into tokens and back", verbs::tokenize},
      {"prepare", "write texts of any size as a token store for train_lm", verbs::prepare},
  };
  return all;
}

struct Study {
  std::string name, about;
};

const std::vector<Study>& all_studies() {
  static const std::vector<Study> all = {
      {"decay_study", "what becomes of the signal and the gradient in a deep net"},
      {"depth_trainability", "up to which depth a net can be trained, with and without norms"},
      {"lm_norms", "which norm, before or after the branch, trains a language model best"},
      {"logit_growth", "whether attention logits grow in training, and what limits them"},
      {"norm_jacobian", "the derivatives that lead from RMSNorm to DyT and DyISRU"},
      {"norm_properties", "invariances, scales and precision of the norms"},
      {"norm_speed", "how long LayerNorm, RMSNorm and DyT take"},
      {"train_lm", "train a small language model and observe every module"},
      {"transformer_stack", "the signal through a stack of PyTorch's Transformer layers"},
  };
  return all;
}

std::string help() {
  std::string text =
      "isobar: measures what is said about normalization in deep networks.\n\n"
      "  isobar verify              judge the claims of five texts, small sizes first\n\n"
      "Verbs:\n";
  for (const Verb& verb : all_verbs()) text += fmt::format("  {:<20}{}\n", verb.name, verb.about);
  text += "\nStudies, programs of their own beside isobar:\n";
  for (const Study& study : all_studies()) text += fmt::format("  {:<20}{}\n", study.name, study.about);
  return text +
         "\n`isobar VERB --help` and `isobar STUDY --help` say more. isobar --version prints the version.\n";
}

bool is_program_name(const std::string& word) {
  return !word.empty() &&
         word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
}

// Becomes the program beside this one. Returns where there is none.
void become(const std::string& name, char** argv) {
  const std::filesystem::path path = std::filesystem::path(own_path()).parent_path() / name;
  if (!is_program_name(name) || !std::filesystem::is_regular_file(path)) return;
  std::string program = path.string();
  argv[0] = program.data();
  execv(argv[0], argv);
  fmt::print(stderr, "isobar: cannot start {}: {}\n", program, std::strerror(errno));
  std::exit(2);
}

int unknown(const std::string& word) {
  verbs::Words known;
  for (const Verb& verb : all_verbs()) known.push_back(verb.name);
  for (const Study& study : all_studies()) known.push_back(study.name);
  const std::string hint = did_you_mean(word, known);
  fmt::print(stderr, "isobar: there is no verb or study '{}'{}\n", word,
             hint.empty() ? "; isobar --help lists them" : hint);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "--help";
  const auto verb = std::ranges::find(all_verbs(), word, &Verb::name);
  if (verb != all_verbs().end()) return verb->run({argv + 2, argv + argc});
  if (word == "--help" || word == "-h" || word == "--version") {
    fmt::print("{}", word == "--version" ? fmt::format("isobar {}\n", isobar_version()) : help());
    return 0;
  }
  become(word, argv + 1);
  return unknown(word);
}
