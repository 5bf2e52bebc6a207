// What the command lines of all programs have in common: --help, spelling, scales, threads, completion, the
// list of all.
#include <doctest/doctest.h>

#include <set>

#include "../../experiments/run/json.h"
#include "../../experiments/run/table.h"
#include "../run.h"

namespace isobar::options_test {

namespace fs = std::filesystem;

using Strings = std::vector<std::string>;

Strings lines_of(const std::string& text) {
  std::istringstream stream(text);
  Strings lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// It starts every study, to ask it what it is.
const std::string& isobar_help() {
  static const std::string help = ran("isobar", "--help").out;
  return help;
}

// As `isobar --help` lists them, and isobar itself: "isobar", "isobar verify", "decay_study".
const Strings& programs() {
  static const Strings all = [] {
    Strings names = {"isobar"};
    std::string prefix;
    for (const std::string& line : lines_of(isobar_help())) {
      if (line.starts_with("Commands")) prefix = "isobar ";
      if (line.starts_with("Studies")) prefix = " ";
      if (prefix.empty() || !line.starts_with("  ")) continue;
      if (line[2] == ' ') continue;  // a further line of a row
      const std::string name = line.substr(2, line.find(' ', 2) - 2);
      names.push_back(prefix == " " ? name : prefix + name);
    }
    return names;
  }();
  return all;
}

// What each study says of itself.
const Json& studies() {
  static const Json all = Json::parse(run_built("isobar", "--about").out);
  return all;
}

bool is_study(const std::string& program) { return !holds(program, "isobar"); }

// What bash offers for the words of a line, the last of which is being typed.
Strings offered(const std::string& words) {
  const TemporaryFolder folder;
  folder.write("ask", "source <(isobar completion bash)\nCOMP_WORDS=(" + words +
                          ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                          "function=$(complete -p ${COMP_WORDS[0]} | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n"
                          "$function\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n");
  const Outcome asked = run_command("PATH=$BIN:$PATH bash ask", folder.path());
  REQUIRE(asked.code == 0);
  Strings lines = lines_of(asked.out);
  std::erase(lines, "");
  return lines;
}

TEST_CASE("--help of every program has an example on top, 80 columns and at most 50 lines") {
  CHECK(programs().size() >= 20);
  for (const std::string& program : programs()) {
    CAPTURE(program);
    const Strings lines = lines_of(program == "isobar" ? isobar_help() : ran(program, "--help").out);
    CHECK(lines.size() <= (program == "isobar" ? 60 : 50));  // isobar's lists all commands and studies
    for (const std::string& line : lines) {
      CAPTURE(line);
      CHECK(display_width(line) <= 80);
    }
    const auto example =
        std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("  "); });
    REQUIRE(example != lines.end());
    CHECK(example - lines.begin() <= 4);
    CHECK((example->find(program) != std::string::npos));
  }
  for (const char* program : {"train_lm", "isobar sample"})
    CHECK(run_built(program, "-h").out == run_built(program, "--help").out);
}

TEST_CASE("--help-all has every setting that --print-config has") {
  const std::string all = run_built("train_lm", "--help_all").out;
  const Json settings = Json::parse(run_built("train_lm", "--print-config").out);
  for (const auto& item : settings.items()) {
    CAPTURE(item.key());
    CHECK((holds(all, "--" + item.key()) || holds(all, "--[no-]" + item.key())));
  }
}

TEST_CASE("long options may be spelled with - and _, and values stay as they are") {
  const std::string wanted =
      run_built("train_lm", "--max_iters 7 --no-tie_embeddings --corpus --a-b --print-config").out;
  CHECK(holds(wanted, "\"max_iters\": 7"));
  CHECK(holds(wanted, "\"corpus\": \"--a-b\""));
  for (const char* other : {"--max-iters 7 --no_tie_embeddings --corpus --a-b --print_config",
                            "--max-iters=7 --no-tie-embeddings --corpus=--a-b --print_config"})
    CHECK(run_built("train_lm", other).out == wanted);
  CHECK(run_built("isobar sample", "none.safetensors --max-new-tokens 5").err ==
        run_built("isobar sample", "none.safetensors --max_new_tokens 5").err);
  CHECK(run_built("train_lm", "--max-itres 7").err ==
        "train_lm: unknown option --max-itres; did you mean --max_iters?\n");
}

TEST_CASE("--quick and --full are taken by the same programs, and refused by the others with a sentence") {
  for (const Json& study : studies())
    CHECK_MESSAGE(study["presets"].contains("quick") == study["presets"].contains("full"), study["name"]);
  for (const char* scale : {"quick", "full"}) {
    const std::string flag = std::string("--") + scale;
    for (const char* program : {"norm_speed", "isobar verify"})
      CHECK(Json::parse(run_built(program, flag + " --print-config").out)["preset"] == scale);
    check_refused(
        "decay_study", flag,
        flag + ": this program has one scale; its settings make it smaller or larger, see --help\n");
  }
  CHECK(run_built("norm_speed", "--quick --full").code == 2);
}

TEST_CASE("--threads is 1 or more everywhere") {
  for (const std::string& program : programs()) {
    if (program == "isobar" || (is_study(program) && program != "train_lm")) continue;
    CAPTURE(program);
    std::string words = "x";  // where a word is wanted
    if (program == "isobar tokenize") words = "encode --tokenizer byte x";
    if (program == "isobar prepare") words = "x -o y";
    if (is_study(program) || program == "isobar verify" || program == "isobar facts" ||
        program == "isobar bench")
      words = "";
    const std::string threads =
        program == "isobar tokenize" ? "--threads 0 " + words : words + " --threads 0";
    check_refused(program, threads, program + ": --threads: wanted a whole number from 1 to 1024, got '0'\n");
  }
}

TEST_CASE("bash completes verbs, studies, options and their values, asked of the program itself") {
  CHECK(offered("isobar ver") == Strings{"verify"});
  CHECK(offered("isobar norm_s") == Strings{"norm_speed"});
  CHECK(offered("isobar ''").size() == programs().size() - 1);
  CHECK(offered("decay_study --preset ''") == Strings{"blog8", "blog8_rmsnorm", "depth_table", "tiny"});
  CHECK(offered("train_lm --norm ''") == Strings{"none", "layernorm", "rmsnorm", "prmsnorm", "batchnorm",
                                                 "groupnorm", "centernorm", "stdnorm", "dyt", "dyt_sqrtd",
                                                 "dyisru", "derf"});
  CHECK(offered("train_lm --max-it") == Strings{"--max_iters"});
  CHECK(offered("train_lm --norm = la") == Strings{"layernorm"});  // as bash splits --norm=la
  CHECK(offered("isobar train_lm --placement p") == Strings{"pre", "post", "peri"});
  CHECK(offered("isobar report runs/x --lang ''") == Strings{"en", "zh"});
  CHECK(offered("isobar tokenize tr") == Strings{"train"});
  CHECK(offered("isobar tokenize train --vo") == Strings{"--vocab_size"});
  // Files, and values of the user's, are left to bash.
  for (const char* words :
       {"train_lm --corpus ''", "isobar sample ''", "train_lm --max_iters ''", "isobar none --x"})
    CHECK(offered(words).empty());
  const std::string script = run_built("isobar completion", "bash").out;
  for (const std::string& program : programs())
    if (program == "isobar" || is_study(program)) CHECK(holds(script, " " + program));
  CHECK(run_built("isobar completion", "fish").err == "isobar completion: SHELL: wanted bash, got fish\n");
}

TEST_CASE("a default that a given flag makes impossible gives way, a given value does not") {
  struct Row {
    const char *program, *flags, *printed, *refused;
  };
  for (const Row& row :
       {Row{"transformer_stack", "--d_model 6", "\"nhead\": 2", "--nhead 4"},
        Row{"logit_growth", "--n_embd 18", "\"n_head\": 3", "--n_head 4"},
        Row{"lm_norms", "--n_layer 16", "\"deep_layers\": 32", "--deep_layers 16"},
        Row{"lm_norms", "--deep_steps 10", "\"deep_warmup_iters\": 3", "--deep_warmup_iters 30"},
        Row{"lm_norms", "--n_head 8 --n_kv_head 8 --deep_steps 50", "\"deep_warmup_iters\": 30", ""}}) {
    CAPTURE(row.flags);
    const Outcome printed = ran(row.program, std::string(row.flags) + " --print-config");
    CHECK(holds(printed.out, row.printed));
    if (row.refused[0] == '\0') continue;
    const TemporaryFolder folder;
    const std::string out = " --seeds 1 --out " + (folder / "run");
    CHECK(run_built(row.program, std::string(row.flags) + " " + row.refused + out).code == 2);
  }
}

TEST_CASE("isobar lists every verb and every study, which are few, and takes their words") {
  CHECK(run_built("isobar", "").out == isobar_help());
  std::set<std::string> files, beside;
  for (const auto& entry : fs::directory_iterator(ISOBAR_SOURCE_DIR "/experiments/studies"))
    files.insert(entry.path().filename().string());
  files.insert({"duel", "train_lm", "isobar"});
  std::ranges::copy_if(programs(), std::inserter(beside, beside.end()),
                       [](const std::string& program) { return !program.starts_with("isobar "); });
  CHECK(beside == files);
  const Strings declared = lines_of(file_text(ISOBAR_SOURCE_DIR "/experiments/tool/verbs.h"));
  const auto is_verb = [](const std::string& line) { return holds(line, "(const Words& words);"); };
  CHECK(std::ranges::count_if(declared, is_verb) + 1 ==
        std::ssize(programs()) - std::ssize(beside));  // completion
  CHECK(std::count_if(files.begin(), files.end(), is_study) < 25);
  for (const char* program : {"isobar", "isobar sample", "train_lm"})
    CHECK(ran(program, "--version").out.starts_with(std::string(program) + " "));
}

TEST_CASE("each study asks a question, has a page, and a preset that takes a second") {
  for (const Json& study : studies()) {
    const std::string name = study["name"], question = study["question"], page = study["page"];
    CAPTURE(name);
    CHECK(question.ends_with("?"));
    CHECK(holds(file_text(ISOBAR_SOURCE_DIR "/" + page), name));
    CHECK(study["presets"].contains("tiny"));  // studies_test runs it
  }
  // Nothing is expected of what is measured; flags win.
  const TemporaryFolder folder;
  ran("majority", "--tiny --d_model 4", folder.path());
  const Json summary = Json::parse(file_text(folder / "runs/majority/summary.json"));
  CHECK(summary["expectations"].empty());
  CHECK(summary["config"]["preset"] == "tiny");
  CHECK(summary["config"]["d_model"] == 4);
}

TEST_CASE("isobar runs the study beside it, with its words and its exit code") {
  CHECK(run_built("isobar", "decay_study --depth 3 --print-config").out ==
        run_built("decay_study", "--depth 3 --print-config").out);
  const Outcome refused = run_built("isobar", "decay_study --dpeth 3");
  CHECK(refused.code == 2);
  CHECK(refused.err == run_built("decay_study", "--dpeth 3").err);
  for (const std::string word : {"decay_studi", "../bin/decay_study", "''", "--halp"})
    check_refused("isobar", word, "isobar: there is no command or study '");
  check_refused("isobar", "decay_studi", "; did you mean decay_study?\n");
}

}  // namespace isobar::options_test
