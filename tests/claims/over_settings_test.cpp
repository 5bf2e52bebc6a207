// Over settings: the words that a comparison gets in sixteen settings, and the file and the run that ask for it.
#include "../../experiments/claims/over_settings.h"

#include <doctest/doctest.h>

#include <set>
#include <tuple>

#include "../../experiments/claims/file.h"
#include "../../experiments/claims/results.h"
#include "../../experiments/claims/verdict.h"
#include "../../experiments/studies/settings/design.h"
#include "../message_of.h"
#include "../verdict_rates/cells.h"

namespace isobar::over_settings_test {

using namespace isobar::claims;
using doctest::Approx;

constexpr size_t weights = 0, optimizer = 2;

const std::vector<SettingsFactor>& design() {
  static const std::vector<SettingsFactor> factors = factors_from(across::design_of(across::Steps()));
  return factors;
}

// The number of a factor's level in a setting, counted as the design's list shows them first.
size_t level_in(size_t setting, size_t factor) { return design()[factor].of_setting[setting]; }

// Five seeds about each mean, of sd 0.1 √2.5 = 0.158 each.
std::vector<Spread> settings_of(const std::function<double(size_t)>& mean) {
  std::vector<Spread> all;
  for (size_t i = 0; i < across::settings.size(); ++i) {
    std::vector<double> seeds;
    for (const double away : {-0.2, -0.1, 0.0, 0.1, 0.2}) seeds.push_back(mean(i) + away);
    all.push_back(spread_of(seeds));
  }
  return all;
}

const Predicate above_0{Rule::mean, just_above(0), infinity, false, 0.3};

OverSettings over(const std::function<double(size_t)>& mean, const Predicate& predicate = above_0) {
  return read_settings(predicate, design(), settings_of(mean));
}

TEST_CASE("the design has sixteen settings, each once, and is balanced") {
  std::set<std::string> names;
  for (size_t i = 0; i < across::settings.size(); ++i) names.insert(across::name_of(across::Steps(), i).en);
  CHECK(names.size() == 16);
  CHECK(design().size() == 5);
  CHECK(message_of([] { check_balanced(design(), 16); }).empty());
  // Of each level there are 4 settings or more, which is 20 pairs of five seeds.
  for (const SettingsFactor& factor : design())
    for (size_t level = 0; level < factor.levels.size(); ++level)
      CHECK(std::ranges::count(factor.of_setting, level) >= 4);
  std::vector<SettingsFactor> mixed = design();
  size_t other = 1;  // a setting with another optimizer than the first
  while (level_in(other, optimizer) == level_in(0, optimizer)) ++other;
  std::swap(mixed[optimizer].of_setting[0], mixed[optimizer].of_setting[other]);
  CHECK(message_of([&] { check_balanced(mixed, 16); }).find("are not balanced") != std::string::npos);
  CHECK(message_of([] { check_balanced(design(), 15); }) ==
        "settings: the factor 'weights' has 16 of the 15 settings");
}

TEST_CASE("a comparison has a word for each way in which settings agree") {
  const auto word = [](const std::function<double(size_t)>& mean) { return over(mean).reading.outcome; };
  using enum PartOutcome;
  CHECK(word([](size_t) { return 1.0; }) == holds);
  CHECK(word([](size_t) { return -1.0; }) == fails);
  CHECK(word([](size_t) { return 0.0; }) == equal);
  const auto with_muon = [](double there, double elsewhere) {
    return [=](size_t i) { return std::string(across::settings[i].optimizer) == "muon" ? there : elsewhere; };
  };
  CHECK(word(with_muon(1, -1)) == depends);
  CHECK(word(with_muon(1, 0)) == depends);  // no difference with AdamW
  CHECK(word(with_muon(1.5, 0.5)) == holds);
  CHECK(over(with_muon(1, -1)).depends_on == std::vector<size_t>{optimizer});
  CHECK(text_of(over(with_muon(1, -1)), optimizer, design()).en ==
        "optimizer: does not hold at AdamW, holds at Muon");
  // With no margin an effect of 0 cannot be told from a small one.
  Predicate no_margin = above_0;
  no_margin.margin = 0;
  CHECK(over(with_muon(1, 0), no_margin).reading.outcome == too_few_seeds);
  CHECK(over(with_muon(1, 0), no_margin).open_level.has_value());
  // One odd setting of sixteen is none of these.
  CHECK(word([](size_t i) { return i == 3 ? 5.0 : 0.0; }) == too_few_seeds);
  // Both nets diverged in one setting: no seed differs there, and it has not all the weight.
  std::vector<Spread> one_equal = settings_of([](size_t) { return 1.0; });
  one_equal[4] = spread_of(std::vector<double>(5, 0.9));
  CHECK(read_settings(above_0, design(), one_equal).reading.outcome == holds);
  one_equal.assign(16, spread_of(std::vector<double>(5, 0.0)));
  CHECK(read_settings(above_0, design(), one_equal).reading.outcome == not_normal);
}

TEST_CASE("a setting's mark is its own, and the marks decide nothing") {
  const OverSettings one = over([](size_t i) { return i < 14 ? 1.0 : 0.0; });
  CHECK(strip_of(one.marks) == "++++++++++++++..");
  CHECK(count_of(one.marks).en == "14 of 16");
}

// Effects of weights and optimizer, and nothing else: settings scatter by their seeds alone, so the variance of a level of
// m settings is sd²/(5 m), with 16 − 1 − 2 − 1 − 1 − 1 − 1 = 9 degrees of freedom.
TEST_CASE("a level has the mean of its settings, and the interval of its seeds where effects add") {
  const OverSettings one = over([](size_t i) {
    return (level_in(i, weights) == 2 ? 0.7 : 0.1) + (level_in(i, optimizer) == 1 ? 0.5 : 0.0);
  });
  for (const LevelReading& level : one.levels) {
    CAPTURE(level.factor);
    CAPTURE(level.level);
    const double of_weights = level.factor == weights ? (level.level == 2 ? 0.7 : 0.1) : 0.1 + 0.6 / 4,
                 of_optimizer = level.factor == optimizer ? (level.level == 1 ? 0.5 : 0.0) : 0.25;
    CHECK(level.mean == Approx(of_weights + of_optimizer).epsilon(1e-12));
    CHECK(level.pairs == 5 * level.settings);
    const double deviation = 0.1 * std::sqrt(2.5 / 5 / static_cast<double>(level.settings));
    CHECK(level.interval.high - level.mean == Approx(student_quantile(0.975, 9) * deviation).epsilon(1e-9));
  }
  // One setting off the sum of effects by 1 makes each level's interval longer.
  const OverSettings off = over([](size_t i) { return i == 3 ? 1.0 : 0.0; });
  CHECK(off.levels[0].variance > 2 * one.levels[0].variance);
}

TEST_CASE("words over settings are wrong in 1 % of comparisons at most") {
  constexpr int64_t few = 1000;
  for (const Across& of : comparisons()) {
    CAPTURE(of.name);
    const AcrossRates one = across_rates(of, few);
    CHECK(one.wrong <= most_of(few));
    if (of.name == "2 sd everywhere") CHECK(one.holds > 0.99);
    if (of.name == "4 sd with Muon, as much less with AdamW") CHECK(one.depends > 0.99);
    if (of.name == "no effect, margin 1 sd") CHECK(one.equal > 0.6);
  }
}

const std::string file = R"([source]
id = "005"
title = "A text"
author = "unknown"
date = "2026"
address = "unknown"

[run.all]
study = "settings"

[[claim]]
id = "N01"
quote = "DyT is worse."
says = "DyT ends above RMSNorm"
paper_size = "not stated"
settings = true
[[claim.part]]
says = "loss"
run = "all"
key = "dyt_minus_rmsnorm"
rule = "mean"
better = "above 0"
equal_within = 0.3
)";

std::string refusal(const std::string& old, const std::string& changed) {
  std::string text = file;
  const size_t at = text.find(old);
  REQUIRE(at != std::string::npos);
  text.replace(at, old.size(), changed);
  return message_of([&] { parse_claims(text, "mine.toml"); });
}

TEST_CASE("one line of a file asks for all settings, and is refused where there is one setting") {
  const ClaimFile claims = parse_claims(file, "mine.toml");
  const Part& part = claims.claims[0].parts[0];
  CHECK(part.settings);
  CHECK(part.keys_in("all", 2) ==
        std::vector<std::string>{"dyt_minus_rmsnorm.setting1", "dyt_minus_rmsnorm.setting2"});
  CHECK(
      refusal("study = \"settings\"", "study = \"lm_norms\"") ==
      "mine.toml, line 16: a part of claim N01: settings: the run all is of lm_norms, which measures one setting; "
      "wanted a run of the study settings or digit_settings, or no settings");
  CHECK(refusal("rule = \"mean\"", "rule = \"median\"").find("take the rule mean, without log") !=
        std::string::npos);
  CHECK(refusal("rule = \"mean\"", "rule = \"mean\"\npooled = true").find("drop one") != std::string::npos);
  CHECK(refusal("dyt_minus_rmsnorm\"", "dyt_minus_rmsnorm.setting3\"").find("write 'dyt_minus_rmsnorm'") !=
        std::string::npos);
}

Json summary_of(const std::function<double(size_t)>& mean) {
  Json summary = across::design_of(across::Steps());
  summary["program"] = "settings";
  summary["config"] = {{"n_layer", 4}, {"width", 32}, {"steps", 250}, {"long_steps", 750}};
  const std::vector<Spread> all = settings_of(mean);
  for (size_t i = 0; i < all.size(); ++i)
    summary["measured"][fmt::format("dyt_minus_rmsnorm.setting{}", i + 1)] = to_json(all[i]);
  return summary;
}

TEST_CASE("a verdict over settings says on what it depends") {
  const ClaimFile claims = parse_claims(file, "mine.toml");
  Runs runs;
  const auto judged = [&](const std::function<double(size_t)>& mean) {
    runs.summaries["all"] = summary_of(mean);
    return judge(claims.claims[0], runs);
  };
  const Judged holds = judged([](size_t) { return 1.0; });
  CHECK(verdict_text(holds) == "true");
  CHECK(holds.where == "small nets, many settings");
  CHECK(to_json(holds)["parts"][0]["measured"].get<std::string>().ends_with(
      "80 pairs in 16 settings (++++++++++++++++ 16 of 16)"));
  CHECK(to_json(holds)["parts"][0]["settings"]["levels"].size() == 11);
  CHECK(verdict_text(judged([](size_t) { return 0.0; })) == "no difference: within 0.3");
  const auto muon = [](size_t i) { return std::string(across::settings[i].optimizer) == "muon"; };
  const Judged turned = judged([&](size_t i) { return muon(i) ? 1.0 : -1.0; });
  CHECK(verdict_text(turned) == "depends: on the optimizer");
  CHECK(to_json(turned)["parts"][0]["outcome"] == "depends");
  CHECK(to_json(turned)["parts"][0]["outcome_text"] ==
        "depends on the optimizer: does not hold at AdamW, holds at Muon");
  CHECK(verdict_text(judged([](size_t i) { return i == 3 ? 5.0 : 0.0; })) == "open: more settings or seeds");
  // A control that depends cannot tell in all settings.
  ClaimFile controlled = claims;
  Part control = controlled.claims[0].parts[0];
  control.control = true;
  controlled.claims[0].parts.push_back(control);
  const auto with_control = [&](double with_muon) {
    runs.summaries["all"] = summary_of([&](size_t i) { return muon(i) ? with_muon : 1.0; });
    return judge(controlled.claims[0], runs).verdict;
  };
  CHECK(with_control(1) == "true");
  CHECK(with_control(-1) == "not tested");
  runs.summaries["all"] = summary_of([](size_t) { return 1.0; });
  // Beside a part of one setting a part over settings counts where it is decided, and is shown where it is not.
  ClaimFile both = claims;
  Part single = both.claims[0].parts[0];
  single.settings = false, single.run = "one", single.key = "loss";
  both.claims[0].parts.push_back(single);
  runs.summaries["one"] = {{"program", "lm_norms"},
                           {"trained", {{{"of", ""}, {"en", "small nets"}, {"zh", "小网络"}}}}};
  runs.summaries["one"]["measured"]["loss"] = to_json(spread_of(std::vector<double>{0.9, 1, 1.1, 1, 0.95}));
  const auto with_one_setting = [&](const std::function<double(size_t)>& mean) {
    runs.summaries["all"] = summary_of(mean);
    return judge(both.claims[0], runs);
  };
  const Judged open = with_one_setting([](size_t i) { return i == 3 ? 5.0 : 0.0; });
  CHECK(open.verdict == "true");
  CHECK(open.where == "small nets, one setting");
  CHECK(deciding_part(open) == &open.findings[1]);
  CHECK(to_json(open)["parts"][0]["outcome_text"].get<std::string>().ends_with(
      "; not counted: the parts in one setting count"));
  CHECK(with_one_setting([](size_t) { return 1.0; }).verdict == "true");
  CHECK(verdict_text(with_one_setting([](size_t) { return -1.0; })) == "depends: on the part");
  CHECK(verdict_text(with_one_setting([&](size_t i) { return muon(i) ? 1.0 : -1.0; })) ==
        "depends: on the optimizer");
  // What the file names is named where parts of one setting differ as well.
  const auto turned_by_muon = [&](size_t i) { return muon(i) ? 1.0 : -1.0; };
  both.claims[0].depends_on = {"paths"};
  CHECK(verdict_text(with_one_setting(turned_by_muon)) == "depends: on the optimizer");
  Part other = both.claims[0].parts[1];
  other.key = "gain";
  both.claims[0].parts.push_back(other);
  runs.summaries["one"]["measured"]["gain"] =
      to_json(spread_of(std::vector<double>{-0.9, -1, -1.1, -1, -0.95}));
  CHECK(verdict_text(with_one_setting(turned_by_muon)) == "depends: on paths");
  both.claims[0].depends_on = {};
  CHECK(verdict_text(with_one_setting(turned_by_muon)) == "depends: on the optimizer");
  both.claims[0].parts.pop_back();
  runs.summaries.erase("all");
  CHECK(judge(both.claims[0], runs).verdict == "true");
  runs.summaries["all"] = summary_of([](size_t) { return 1.0; });
  // A value of one setting by itself is one setting's.
  ClaimFile one = claims;
  one.claims[0].parts[0].settings = false;
  one.claims[0].parts[0].key += ".setting1";
  CHECK(judge(one.claims[0], runs).where == "small nets, one setting");
}

}  // namespace isobar::over_settings_test
