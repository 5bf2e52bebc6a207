// Every command of build/bin/ that a document shows is run, made small by words after it: later words win.
// (Those of verbs/README.md are run by tokenize_test and use_model_test, those of watch/README.md by live_test.)
#include <doctest/doctest.h>

#include <algorithm>
#include <regex>

#include "documents.h"
#include "holds.h"
#include "program.h"
#include "stripes.h"

using namespace isobar;

namespace {

using Words = std::vector<std::string>;

// What makes a program's commands take no second.
struct Shrunk {
  std::string program, words;
};

const std::vector<Shrunk>& shrunk() {
  static const std::vector<Shrunk> all = {
      {"decay_study", "--depth 2 --width 16 --batch 4 --seeds 2 --force"},
      {"depth_trainability",
       "--nets plain.default.none --depths 2,8 --width 8 --steps 2 --seeds 1 --mnist . --force"},
      {"norm_properties", "--seeds 1 --force"},
      {"transformer_stack",
       "--depths 2 --seeds 2 --d_model 8 --nhead 2 --dim_feedforward 8 --length 3 --batch 2 --force"},
      {"majority", "--depths 1 --steps 2 --batch 2 --seeds 1 --force"},
      {"rank_collapse", "--depth 2 --d_model 8 --length 3 --batch 2 --seeds 2 --force"},
      {"train_lm",
       "--n_layer 1 --n_head 1 --n_kv_head 1 --n_embd 16 --block_size 16 --batch_size 2 --max_iters 6 "
       "--eval_iters 1"
       " --eval_interval 4 --warmup_iters 2 --checkpoint_interval 2 --force"},
      {"norm_jacobian", "--seeds 1 --rows 8 --force"},
      {"logit_growth", "--n_layer 1 --n_embd 16 --steps 2 --log_interval 1 --seeds 1 --eval_iters 1 --force"},
      {"warmup",
       "--depths 1,2 --n_layer 1 --n_embd 16 --learning_rates 1e-2 --steps 4 --seeds 1 --eval_iters 1 --force"},
      {"fine_tuning",
       "--n_layer 1 --n_embd 16 --steps 2 --finetuning_steps 2 --seeds 1 --eval_iters 1 --force"},
      {"centering", "--n_layer 1 --n_embd 16 --steps 4 --seeds 1 --eval_iters 1 --force"},
      {"norm_speed", "--shapes 2x8 --rounds 15 --turn_ms 0.1 --force"},
      {"lm_norms",
       "--nets pre.none,pre.rmsnorm --widths 16 --n_layer 1 --learning_rates 3e-3 --steps 2 --deep_nets "
       "pre.rmsnorm"
       " --deep_layers 2 --deep_learning_rates 3e-3 --deep_steps 2 --deep_warmup_iters 1 --seeds 1 --pair_seeds 1"
       " --eval_iters 1 --force"},
      {"norm_motives",
       "--width 8 --steps 2 --few 8 --few_steps 2 --small 8 --seeds 1 --learning_rates 0.1 --force"},
      {"recurrent_norms", "--hidden 4 --steps 2 --seeds 1 --learning_rates 1e-2 --force"},
      {"isobar verify", "--only blog8 --force"},
      {"isobar report", ""},  // these take no time
      {"isobar sample", ""},
      {"isobar evaluate", ""},
      {"isobar watch", "--once"},
      {"bench", "--list"},
  };
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
  const auto row = std::find_if(shrunk().begin(), shrunk().end(),
                                [&](const Shrunk& one) { return one.program == command.program; });
  REQUIRE_MESSAGE(row != shrunk().end(), command.program, " is run by no test of READMEs");
  // 87 nets that no flag makes fewer, and --print-model, which trains nothing.
  if (holds(command.arguments, "depth_table")) return command.arguments + " --print-config";
  if (holds(command.arguments, "--print-model") || holds(command.arguments, "--replay"))
    return command.arguments;
  if (holds(command.arguments, "mine.toml")) return command.arguments + " --force";
  // isobar verify was run for blog8 alone: pictures of other studies come from runs of those.
  if (command.program == "isobar report")
    return std::regex_replace(command.arguments, std::regex("runs/verify --svg ((?!blog8)\\w+)"),
                              "runs/verify/$1 --svg $1");
  // What a run is resumed with must be what it began with.
  if (holds(command.arguments, "--resume")) return command.arguments + " --force";
  return command.arguments + " " + row->words;
}

}  // namespace

TEST_CASE("the commands that READMEs show for studies and trainings run one after the other") {
  const TemporaryFolder folder;
  std::string text;
  for (int i = 0; i < 400; ++i) text += "the rain in Spain, " + std::to_string(i % 13) + " times\n";
  for (const char* name : {"my.txt", "corpus.txt"}) folder.write(name, text);
  folder.write("experiments/figures/here", "");
  folder.write("mine.toml", toml_of(claims_readme));
  write_stripes(folder);
  REQUIRE(run_built("isobar prepare", "my.txt -o tokens.safetensors", folder.path()).code == 0);
  REQUIRE(run_built("isobar tokenize", "train --vocab_size 280 my.txt -o bpe.json", folder.path()).code == 0);

  const Words elsewhere = {"experiments/verbs/README.md", "experiments/watch/README.md"};
  size_t count = 0;
  for (const std::filesystem::path& path : documents()) {
    const std::string readme = std::filesystem::relative(path, ISOBAR_SOURCE_DIR);
    if (std::find(elsewhere.begin(), elsewhere.end(), readme) != elsewhere.end()) continue;
    for (const Command& command : commands_of(readme)) {
      if (command.program == "isobar_tests") continue;  // this program itself
      // Runs that report is shown with.
      if (command.program == "isobar report" && holds(command.arguments, "runs/a ")) {
        const Shrunk& study = shrunk().front();
        for (const char* run : {"runs/a", "runs/b", "runs/verify/blog8_rmsnorm"})
          REQUIRE(run_built(study.program, study.words + " --out " + run, folder.path()).code <= 1);
        const std::pair<const char*, std::string> made[] = {{"depth_trainability", "depth_trainability"},
                                                            {"norm_jacobian", "norm_jacobian"},
                                                            {"logit_growth", "logits_shakespeare"}};
        for (const auto& [name, run] : made) {
          const std::string arguments = small_arguments({name, " --out runs/verify/" + run});
          REQUIRE(run_built(name, arguments, folder.path()).code <= 1);
        }
      }
      const std::string arguments = small_arguments(command);
      CAPTURE(readme);
      CAPTURE(command.program);
      CAPTURE(arguments);
      const Outcome outcome = run_built(command.program, arguments, folder.path());
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
  CHECK(count >= 40);
}
