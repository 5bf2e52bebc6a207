// What --help says that a setting may be, it must be: every field of every program is given other values.
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <future>
#include <regex>
#include <set>

#include "../../experiments/run/program.h"
#include "../run.h"

namespace isobar::bounds_test {

using Words = std::vector<std::string>;

// A row of --help: "--depth", "N", "layers (1 to 100000) [8]".
struct Row {
  std::string flag, type, meaning;
};

std::vector<Row> settings_in(const std::string& help) {
  std::vector<Row> rows;
  std::stringstream lines(help.substr(std::min(help.find("\nSettings:\n"), help.size())));
  const std::regex begins(R"(  (--\S+)( ([A-Z]+(,\.\.\.)?))?( +(.*))?)");
  std::smatch match;
  for (std::string line;
       std::getline(lines, line) && !line.starts_with("Presets") && !line.starts_with("Later");) {
    if (std::regex_match(line, match, begins))
      rows.push_back({match[1], match[3], match[6]});
    else if (!rows.empty() && line.starts_with("   "))
      rows.back().meaning += " " + line.substr(line.find_first_not_of(' '));
  }
  return rows;
}

// Numbers just beyond the bounds that a row tells; none where it tells none.
Words beyond_bounds(const Row& row) {
  const std::regex bounds(R"(.* \((?:(\S+) to (\S+)|(>=|>) (\S+?)(?: and < (\S+?))?)\) \[.*)");
  std::smatch match;
  if (!std::regex_match(row.meaning, match, bounds)) return {};
  if (match[1].matched)
    return {std::to_string(std::stoll(match[1]) - 1), std::to_string(std::stoll(match[2]) + 1)};
  const double least = std::stod(match[4]);
  Words words = {match[3] == ">" ? match[4].str()
                                 : fmt::format("{}", row.type[0] == 'N' ? least - 1 : least - 1e-9)};
  if (match[5].matched) words.push_back(match[5]);
  return words;
}

// What the field may not be.
Words bad_values(const Row& row) {
  if (row.type.empty()) return {"perhaps"};
  const bool list = row.type.ends_with(",...");
  const size_t shown = row.meaning.rfind('[') + 1;
  const std::string now = row.meaning.substr(shown, row.meaning.size() - 1 - shown),
                    first = now.substr(0, now.find(','));
  Words values;
  if (row.type[0] == 'T') {
    if ((list && now != "none") || row.meaning.find('{') != std::string::npos) values = {"no_such_word"};
  } else {
    values = beyond_bounds(row);
    values.insert(values.end(), {"", "x", row.type[0] == 'N' ? "1.5" : "nan"});
  }
  if (list)
    for (std::string& value : values) value = first + "," + value;
  if (list) values.insert(values.end(), {first + ",," + first, first + "," + first});
  return values;
}

struct BadValue {
  std::string program, flag, value;
};

// What is wrong with how the program takes the value; empty: nothing.
std::string mistake_of(const BadValue& one) {
  const Outcome run = run_built(one.program, fmt::format("{}='{}' --print-config", one.flag, one.value));
  const std::string begin = fmt::format("{}: {}: wanted ", one.program, one.flag);
  if (run.code == 2 && run.out.empty() && run.err.starts_with(begin) &&
      std::count(run.err.begin(), run.err.end(), '\n') == 1 && holds(run.err, "got '"))
    return "";
  return fmt::format("{} {}='{}': code {}: {}\n", one.program, one.flag, one.value, run.code, run.err);
}

TEST_CASE("every field of every program refuses what it may not be, in one line") {
  Words programs = study_names();
  programs.push_back("isobar verify");
  std::vector<BadValue> refusals,
      more;  // one of each kind of field that no program before had, and the others
  std::set<std::string> seen;
  for (const std::string& program : programs)
    for (const Row& row : settings_in(run_built(program, "--help-all").out)) {
      CAPTURE(program);
      CAPTURE(row.flag);
      std::string flag = row.flag;
      if (flag.starts_with("--[no-]")) flag = "--" + flag.substr(7);
      // Below zero is the norm's own.
      if (row.type.starts_with("N") || row.type.starts_with("X"))
        CHECK((!beyond_bounds(row).empty() || flag == "--alpha"));
      Words values = bad_values(row);
      if (values.empty()) continue;
      const size_t chosen = refusals.size() % values.size();  // another of the next field
      std::swap(values[0], values[chosen]);
      const bool has_choices = row.meaning.find('{') != std::string::npos;
      const bool is_new =
          seen.insert(fmt::format("{} {} {}", row.type, has_choices, fmt::join(beyond_bounds(row), " ")))
              .second;
      (is_new ? refusals : more).push_back({program, flag, values[0]});
      for (size_t i = 1; i < values.size(); ++i) more.push_back({program, flag, values[i]});
    }
  CHECK(refusals.size() + more.size() > 500);
  // A program starts for each: all of them in .ci/long rest.
  if (std::getenv("ISOBAR_THOROUGH")) refusals.insert(refusals.end(), more.begin(), more.end());
  const auto mistakes_of_half = [&](size_t half) {
    std::string all;
    for (size_t i = half; i < refusals.size(); i += 2) all += mistake_of(refusals[i]);
    return all;
  };
  std::future<std::string> other = std::async(std::launch::async, mistakes_of_half, 1);
  const std::string mistakes = mistakes_of_half(0) + other.get();
  CHECK(mistakes == "");
}

TEST_CASE("fields that do not go together are refused in one line, and nothing is written") {
  const TemporaryFolder folder;
  folder.write("short.txt", std::string(500, 'x') + "y");
  std::vector<Refusal> all = {
      {"decay_study", "--topology skipinit --norm rmsnorm",
       "--norm rmsnorm has no place in --topology skipinit"},
      {"decay_study", "--topology rezero --norm dyt", "--norm dyt has no place in --topology rezero"},
      {"decay_study", "--topology fixup --norm layernorm",
       "--norm layernorm has no place in --topology fixup"},
      {"decay_study", "--topology residual --norm layernorm", "take pre or post"},
      {"decay_study", "--topology fixup --init he_normal",
       "--init he_normal has no meaning with --topology fixup"},
      {"decay_study", "--topology pre --norm rmsnorm --order relu_norm",
       "--order relu_norm has no meaning with --topology pre"},
      {"decay_study", "--order relu_norm", "--order relu_norm has no meaning without a norm"},
      {"decay_study", "--alpha 0.5", "--alpha has no meaning here"},
      {"decay_study", "--norm dyisru --alpha 0", "C of dyisru must be above 0"},
      {"decay_study", "--width 1 --batch 1", "the std of a single number is undefined"},
      {"decay_study", "--norm rmsnrm", "did you mean rmsnorm?"},
      {"decay_study", "--preset depth_table --depth 5", "only --seeds and --seed can be given"},
      {"depth_trainability", "--nets plain.default.rmsnrm", "did you mean plain.default.rmsnorm?"},
      {"depth_trainability", "--nets fixup.he_normal.rmsnorm", "--nets: wanted"},
      {"depth_trainability", "--mnist /nowhere",
       "mnist: there is no folder /nowhere; name one that has t10k-images"},
      {"transformer_stack", "--nhead 3", "--nhead 3: does not divide --d_model 64"},
      {"rank_collapse", "--d_model 6", "--d_model: wanted a multiple of its four heads, got 6"},
      {"recurrent_norms", "--lengths 27", "--lengths: wanted divisors of the 784 pixels"},
      {"norm_speed", "--shapes 12", "--shapes: wanted rows x columns"},
      {"norm_speed", "--shapes 0x5", "--shapes: wanted rows x columns"},
      {"norm_speed", "--shapes 3x4z", "--shapes: wanted rows x columns"},
      {"norm_speed", "--shapes 9999999x9999999", "of at most 2^24 elements"},
      {"centering", "--n_embd 18", "--n_embd: wanted a multiple of n_head"},
      {"centering", "--corpus no_such_file", "no_such_file"},
      {"fine_tuning", "--nets rezero.rmsnorm", "--nets: wanted"},
      {"fine_tuning", "--corpus synthetic", "--corpus: wanted a text besides"},
      {"warmup", "--depths 4", "--depths: wanted at least two, got 4"},
      {"warmup", "--warmup_iters 3", "this study sets it"},
      {"lm_norms", "--nets ngpt.rmsnorm", "--nets: wanted ngpt, or placement.norm"},
      {"lm_norms", "--nets rezero.rmsnorm", "--nets: wanted ngpt, or placement.norm"},
      {"lm_norms", "--nets pre.dyt@x", "--nets: wanted numbers > 0"},
      {"lm_norms", "--nets ngpt,ngpt@3e-3", "--nets: ngpt is there twice"},
      {"lm_norms", "--nets '' --deep_nets ''", "--nets: wanted at least one"},
      {"lm_norms", "--widths 64,66", "--n_embd: wanted a multiple of n_head"},
      {"lm_norms", "--deep_layers 4", "--deep_layers: wanted another number"},
      {"lm_norms", "--deep_warmup_iters 101", "--deep_warmup_iters: wanted 0 to deep_steps"},
      {"depth_trainability", "--activation gelu --nets fixup.he_normal.none",
       "no place in fixup.he_normal.none, whose blocks have a ReLU of their own"},
      {"duel", "rmsnorm", "wanted two contestants, A and B, got 1"},
      {"duel", "rmsnorm dyt layernorm", "got 3"},
      {"duel", "rmsnorm peri.rmsnorm --task digits", "have no such placement"},
      {"duel", "rmsnorm '--norm dyt --bias' --task digits", "and no --bias"},
      {"duel", "--task digits --corpus x.txt", "is no part of --task digits"},
      {"duel", "--width 12", "a multiple of 8"},
      {"ladder", "--nets rmsnorm,dyt", "--nets: none is the other side of comparisons; add it"},
      {"ladder", "--widths 24,20", "--widths: wanted multiples of 8, got 20"},
      {"ladder", "--widths 32,24", "--widths: wanted increasing numbers, got 32,24"},
      {"ladder", "--train_tokens 100,200", "several want one width, got --widths 24,32,40"},
      {"ladder", "--widths 24 --train_tokens 60", "wanted more than --block_size (64), or 0, got 60"},
      {"ladder", "--rungs 4", "--rungs: the ladder has 3, got 4"},
      {"train_lm", "--corpus missing.txt", "missing.txt"},
      {"train_lm", "--corpus short.txt --block_size 64", "validation part holds 51 tokens"},
      {"train_lm", "--corpus short.txt --block_size 600", "training part holds 450 tokens"},
      {"train_lm", "--norm rmsnorm --alpha 0.5", "--alpha has no meaning with --norm rmsnorm"},
      {"train_lm", "--n_kv_head 3", "divisor of n_head"},
      {"train_lm", "--max_iters 40 --warmup_iters 100",
       "--warmup_iters: wanted at most max_iters (40), got 100"},
      {"train_lm", "--min_lr 0.1", "--min_lr: wanted at most learning_rate (0.003), got 0.1"},
      {"train_lm", "--optimizer muon --learning_rate 0", "--learning_rate: wanted more than 0"},
      {"train_lm", "--schedule wsd --max_iters 100 --warmup_iters 60 --decay_iters 41",
       "--decay_iters: wanted at most"},
  };
  for (Refusal& one : all) one.arguments += " --out run";
  check_refusals(all, folder);
}

}  // namespace isobar::bounds_test
