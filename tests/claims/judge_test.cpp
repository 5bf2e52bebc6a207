// How the parts of a claim, its looks and what its nets were trained on make a verdict and its row.
#include "../../experiments/claims/verdict.h"

#include <doctest/doctest.h>

#include "../../experiments/claims/results.h"
#include "../holds.h"
#include "claim_seeds.h"

namespace isobar::judge_test {

using namespace isobar::claims;

// A claim of a part for each key, of the run "r".
Claim claim_of(const std::vector<const char*>& keys, const Predicate& predicate) {
  Claim claim;
  claim.id = "N01";
  for (const char* key : keys) {
    Part& part = claim.parts.emplace_back();
    part.says = part.key = key, part.run = "r", part.predicate = predicate;
  }
  return claim;
}

TEST_CASE("a claim about a text has the verdict that its passages give") {
  Claim claim;
  claim.kind = Kind::source;
  Passage passage;
  passage.bearing = Bearing::lacks;
  claim.passages = {passage};
  CHECK(judge(claim, {}).verdict == "false");
  passage.bearing = Bearing::bears_out;
  claim.passages.push_back(passage);
  CHECK(judge(claim, {}).verdict == "depends");
  claim.one_statement = true;
  CHECK(judge(claim, {}).verdict == "false");
  claim.passages.erase(claim.passages.begin());
  CHECK(judge(claim, {}).verdict == "true");
  claim.passages[0].bearing = Bearing::contradicts;
  CHECK(judge(claim, {}).verdict == "false");
}

TEST_CASE("a busy machine and too few seeds leave a claim open, unless other parts settle it") {
  Claim claim = claim_of({"t", "m"}, {Rule::mean, 0, infinity, false});
  Part &time = claim.parts[0], &mean = claim.parts[1];
  time.predicate = {Rule::time, 2, infinity, false};
  Runs runs;
  Json& measured = runs.summaries["r"]["measured"];
  measured["t"] = seeds_about(time, 3);
  measured["m"] = seeds_about(mean, 1);
  CHECK(judge(claim, runs).verdict == "true");
  measured["machine.busy"] = same_for_all_seeds(1);
  CHECK(judge(claim, runs).verdict == "open");
  measured["machine.busy"] = same_for_all_seeds(0);
  const std::vector<double> wide{-1, 2, 0.5};
  measured["m"] = to_json(spread_of(wide));
  CHECK(judge(claim, runs).verdict == "open");
  measured["t"] = seeds_about(time, 1);
  measured["m"] = seeds_about(mean, 1);
  CHECK(judge(claim, runs).verdict == "depends");
  claim.one_statement = true;
  measured["m"] = to_json(spread_of(wide));
  CHECK(judge(claim, runs).verdict == "false");  // one part fails, whatever the other would do
}

TEST_CASE("an open part beside decided ones leaves the claim open") {
  const Claim claim = claim_of({"holds", "open"}, {Rule::mean, 0, infinity, false});
  Runs runs;
  Json& measured = runs.summaries["r"]["measured"];
  const auto seeds = [](std::vector<double> values) { return to_json(spread_of(values)); };
  measured["holds"] = seeds({5, 5.1, 5.2, 4.9});
  measured["open"] = seeds({-1, 2, 0.5});
  CHECK(judge(claim, runs).verdict == "open");
  measured["open"] = with_named_infinities(seeds({1, infinity, 2}));
  CHECK(judge(claim, runs).verdict == "open");
  measured["open"] = seeds({5, 5.1, 5.2, 4.9});
  CHECK(judge(claim, runs).verdict == "true");
}

TEST_CASE("where one open part does not know how many seeds it needs, the claim names no number") {
  Claim claim = claim_of({"mean", "median"}, {Rule::mean, 0, infinity, false});
  claim.parts[1].predicate.rule = Rule::median;
  Runs runs;
  const auto seeds = [](std::vector<double> values) { return to_json(spread_of(values)); };
  Json& measured = runs.summaries["r"]["measured"];
  measured["mean"] = seeds({-1, 2, 0.5});
  measured["median"] = seeds({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  CHECK(judge(claim, runs).detail.en.starts_with("about "));
  CHECK(holds(judge(claim, runs).reason.en, "12 seeds, 12 of 12 as asked (interval of this share: 0."));
  measured["median"] = seeds({-1, 2, 0.5});
  CHECK(judge(claim, runs).verdict == "open");
  CHECK(judge(claim, runs).detail.en == "more seeds");
}

TEST_CASE("a control that fails takes the parts of its run away, and is no part of the claim") {
  Claim claim = claim_of({"a", "control"}, {Rule::mean, 0, infinity, false});
  claim.parts[1].control = true;
  Part other = claim.parts[0];
  other.run = "s";
  claim.parts.push_back(other);
  Runs runs;
  const auto verdict = [&](double a, double control, double of_other) {
    runs.summaries["r"]["measured"]["a"] = seeds_about(claim.parts[0], a);
    runs.summaries["r"]["measured"]["control"] = seeds_about(claim.parts[1], control);
    runs.summaries["s"]["measured"]["a"] = seeds_about(other, of_other);
    return judge(claim, runs).verdict;
  };
  CHECK(verdict(1, 1, 1) == "true");
  CHECK(verdict(-1, 1, -1) == "false");
  CHECK(verdict(-1, -1, 1) == "true");
  CHECK(verdict(1, -1, -1) == "false");
  claim.parts.pop_back();
  CHECK(verdict(1, -1, 1) == "not tested");
  CHECK(holds(judge(claim, runs).reason.en, "control: control: does not hold"));
  CHECK(holds(judge(claim, runs).reason.en, "a: holds; not counted: a control of this run does not hold"));
}

TEST_CASE("a control with an experiment speaks of the parts of this experiment alone") {
  Claim claim = claim_of({"a", "control of a", "b", "control of b"}, {Rule::mean, 0, infinity, false});
  for (const size_t i : {1, 3}) claim.parts[i].control = true;
  for (const size_t i : {0, 1}) claim.parts[i].experiment = "A";
  for (const size_t i : {2, 3}) claim.parts[i].experiment = "B";
  Runs runs;
  const std::vector<double> undecided{-1, 2, 0.5};
  const auto judged = [&](double a, double control_of_a, double b, double control_of_b) {
    const double values[] = {a, control_of_a, b, control_of_b};
    for (size_t i = 0; i < 4; ++i)
      runs.summaries["r"]["measured"][claim.parts[i].key] =
          values[i] == 0 ? to_json(spread_of(undecided)) : seeds_about(claim.parts[i], values[i]);
    return judge(claim, runs);
  };
  CHECK(judged(1, 1, 1, 1).verdict == "true");
  CHECK(judged(1, 1, -1, 1).verdict == "depends");
  // A control that fails takes the parts of its own experiment away, and no others.
  CHECK(judged(1, 1, -1, -1).verdict == "true");
  CHECK(judged(1, -1, -1, -1).verdict == "not tested");
  // An open one leaves them open: what the other experiment says is not the whole, but two that differ do.
  CHECK(judged(1, 1, 1, 0).verdict == "open");
  CHECK(judged(1, 1, -1, 0).verdict == "open");
  CHECK(judged(1, 0, 1, 0).verdict == "open");
  CHECK(holds(judged(1, 1, 1, 0).reason.en, "b: holds; open, as its control is"));
  // Without an experiment an open control leaves all open, as one that fails takes all away.
  for (Part& part : claim.parts) part.experiment = "";
  CHECK(judged(1, 1, -1, 0).verdict == "open");
  CHECK(judged(1, 1, -1, -1).verdict == "not tested");
}

TEST_CASE("a control of equal nets cannot tell nets apart, and takes the parts of its run away") {
  Claim claim = claim_of({"a", "control"}, {Rule::mean, just_above(0), infinity, false, 0.5});
  claim.parts[1].control = true;
  Runs runs;
  runs.summaries["r"]["measured"]["a"] = seeds_about(claim.parts[0], 1);
  runs.summaries["r"]["measured"]["control"] = seeds_about(claim.parts[1], 1);
  CHECK(judge(claim, runs).verdict == "true");
  runs.summaries["r"]["measured"]["control"] = seeds_about(claim.parts[1], 0);
  CHECK(judge(claim, runs).verdict == "not tested");
}

TEST_CASE("an identity that a test checks is true by proof, in any net") {
  Claim claim = claim_of({}, {});
  claim.kind = Kind::definition, claim.test = "a test";
  const Judged judged = judge(claim, {});
  CHECK(judged.verdict == "true");
  CHECK(judged.how == "proof");
  CHECK(judged.where == "any net");
}

TEST_CASE("an open claim says how many seeds would do, in two digits") {
  const Claim claim = claim_of({"open"}, {Rule::mean, 0, infinity, false});
  Runs runs;
  runs.summaries["r"]["measured"]["open"] = to_json(spread_of(std::vector<double>{-1, 1.1, 0.05}));
  const Judged judged = judge(claim, runs);
  const auto exact = to_json(judged)["parts"][0]["seeds_needed"].get<int64_t>();
  REQUIRE(exact > 1000);
  REQUIRE(exact <= 10'000);
  REQUIRE(exact % 100 != 0);
  CHECK(verdict_text(judged) == fmt::format("open: about {} seeds", (exact / 100 + 1) * 100));
}

TEST_CASE("no difference, and what decides a claim whatever its open part will be") {
  Claim claim = claim_of({"a", "b", "c"}, {Rule::mean, just_above(0), infinity, false, 0.5});
  claim.depends_on = {"the optimizer", "优化器"};
  Runs runs;
  const auto judged = [&](double a, double b, double c) {
    Json& measured = runs.summaries["r"]["measured"];
    measured["a"] = seeds_about(claim.parts[0], a), measured["b"] = seeds_about(claim.parts[1], b);
    const std::vector<double> wide{-1, 2, 0.5};
    measured["c"] = std::isnan(c) ? to_json(spread_of(wide)) : seeds_about(claim.parts[2], c);
    return verdict_text(judge(claim, runs));
  };
  CHECK(judged(0, 0, 0) == "no difference: within 0.5");
  CHECK(judged(1, 0, 1) == "depends: on the optimizer");
  CHECK(judged(1, -1, NAN) == "depends: on the optimizer");
  CHECK(judged(-1, 0, -1) == "false");
  CHECK(judged(0, 0, NAN).starts_with("open: about "));
  claim.one_statement = true;
  CHECK(judged(1, 0, NAN) == "false");
  CHECK(deciding_part(judge(claim, runs))->part->key == "b");
  claim.no_source = {"the paper has no such table", "该论文没有这张表"};
  CHECK(judged(1, 1, 1) == "false: its source has no such result");
  CHECK(judge(claim, runs).how == "source");
}

TEST_CASE("a value may be the difference, sum or quotient of two of one run, and of all rungs of a ladder") {
  Claim claim = claim_of({"a"}, {Rule::mean, 0.9, 1.1, false});
  claim.parts[0].minus = "b";
  Runs runs;
  runs.summaries["r"] = {{"rungs", {1, 2, 3}}, {"measured", Json::object()}};
  const std::vector<double> a{5, 6, 7.001, 8}, b{4, 5.001, 6, 7};
  Json& measured = runs.summaries["r"]["measured"];
  measured["a"] = to_json(spread_of(a));
  CHECK(judge(claim, runs).verdict == "not tested");
  measured["b"] = to_json(spread_of(b));
  CHECK(judge(claim, runs).verdict == "true");
  claim.parts[0].minus = "", claim.parts[0].plus = "b";
  claim.parts[0].predicate = {Rule::mean, 11, 13.1};
  const auto combined = [&](const std::vector<double>& wanted) {
    const std::vector<double> got = judge(claim, runs).findings[0].seeds.values;
    return std::ranges::equal(got, wanted,
                              [](double x, double y) { return x == doctest::Approx(y).epsilon(1e-12); });
  };
  CHECK(combined({9, 11.001, 13.001, 15}));
  claim.parts[0].plus = "", claim.parts[0].over = "b";
  CHECK(combined({5 / 4.0, 6 / 5.001, 7.001 / 6, 8 / 7.0}));
  claim = claim_of({"adamw.a"}, {Rule::mean, -2, infinity, false});
  claim.parts[0].pooled = true;
  for (const char* rung : {".rung1", ".rung2"})
    measured["adamw.a" + std::string(rung)] = to_json(spread_of(std::vector<double>{1, 2, 3, 4, 5}));
  CHECK(judge(claim, runs).verdict == "not tested");
  measured["adamw.a.rung3"] = to_json(spread_of(std::vector<double>{-1, 2, 3, 4, 5}));
  CHECK(judge(claim, runs).verdict == "true");
  // Means 3, 3 and 2.6 with variances of the mean of 0.5, 0.5 and 1.06.
  const std::string pooled = "15 values over all sizes (wanted mean at least -2)";
  CHECK(holds(judge(claim, runs).reason.en, "holds, 2.924 ["));
  CHECK(holds(judge(claim, runs).reason.en, pooled));
  // Its reach, which may be values of the same run, counts nothing.
  claim.parts[0].reach = {"adamw.a", "muon.a"};
  claim.parts[0].reach_run = "r";
  Json& rungs = runs.summaries["r"]["rungs"];
  for (size_t i = 0; i < 3; ++i)
    rungs[i] = {{"name", {{"en", fmt::format("{} wide", 48 + i)}}}, {"log2_compute", i}};
  for (const char* rung : {".rung1", ".rung2", ".rung3"})
    measured["muon.a" + std::string(rung)] = to_json(spread_of(std::vector<double>{-1, -2, -3, -4, -5}));
  CHECK(holds(judge(claim, runs).reason.en, pooled));
}

TEST_CASE("each look at more seeds makes the interval longer, and is said") {
  const Claim claim = claim_of({"k"}, {Rule::mean, 1, infinity, false});
  Runs runs;
  const std::vector<double> values{0.9, 1.1, 1.3, 1.2};
  runs.summaries["r"]["measured"]["k"] = to_json(spread_of(values));
  const Finding first = judge(claim, runs).findings[0];
  CHECK(first.looks == std::vector<int64_t>{4});
  runs.looks[{"r", "k"}] = {4};  // the same look once more
  CHECK(judge(claim, runs).findings[0].reading.interval.low == first.reading.interval.low);
  runs.looks[{"r", "k"}] = {2, 3};
  const Judged third = judge(claim, runs);
  CHECK(third.findings[0].looks == std::vector<int64_t>{2, 3, 4});
  CHECK(third.findings[0].reading.interval.low < first.reading.interval.low);
  CHECK(third.findings[0].needed > first.needed);
  CHECK(holds(third.reason.en, "4 seeds, look 3"));
  CHECK(to_json(third)["parts"][0]["looks"] == Json({2, 3, 4}));
}

TEST_CASE("a verdict names what it assumes of few seeds, and why a rule does not hold") {
  Claim claim = claim_of({"the gain"}, {Rule::mean, 1, infinity, false});
  Runs runs;
  const auto judged_of = [&](std::vector<double> values) {
    runs.summaries["r"]["measured"]["the gain"] = with_named_infinities(to_json(spread_of(values)));
    return judge(claim, runs);
  };
  Judged judged = judged_of({2, 2.1, 2.2, 1.9, 1.8});
  CHECK(judged.verdict == "true");
  CHECK(judged.reason.en.starts_with("the gain: holds, assuming normal values, 2 ["));
  CHECK(judged.reason.zh.starts_with("the gain: 成立，假定值服从正态分布, 2 ["));
  CHECK(to_json(judged)["parts"][0]["outcome_text"] == "holds, assuming normal values");
  judged = judged_of({2, 2, 2, 2, 2});
  CHECK(judged.verdict == "open");
  CHECK(holds(judged.reason.en, "all seeds have one value (the rule every_seed)"));
  judged = judged_of({2, infinity, 2.1, 2.2});
  CHECK(judged.verdict == "open");
  CHECK(holds(judged.reason.en, "a seed is infinite"));
  judged = judged_of({3});
  CHECK(judged.verdict == "open");
  CHECK_FALSE(holds(judged.reason.en, "3, one value, no error rate"));
  claim.parts[0].predicate.rule = Rule::every_seed;
  judged = judged_of({3});
  CHECK(judged.verdict == "true");
  CHECK(judged.reason.en == "the gain: holds, 3, one value, no error rate (wanted every seed at least 1)");
}

TEST_CASE("a claim's row says what its nets were trained on, each net once") {
  Claim claim = claim_of({"pre.a", "pre.b"}, {.rule = Rule::mean, .high = 1});
  claim.says = "they are equal";
  Runs runs;
  const std::string said = "4 blocks of width 64, 9 steps on the synthetic language, best rate of 1e-3";
  runs.summaries["r"] = {
      {"program", "a study"},
      {"trained",
       {{{"of", "start."}, {"en", ""}, {"zh", ""}}, {{"of", "pre."}, {"en", said}, {"zh", "四块"}}}},
      {"measured", {{"pre.a", same_for_all_seeds(0)}, {"pre.b", same_for_all_seeds(0)}}}};
  Judged judged = judge(claim, runs);
  CHECK(to_json(judged)["trained_on"] == said);
  CHECK(to_json(judged)["trained_on_zh"] == "四块");
  CHECK(to_json(judged)["parts"][1]["trained_on"] == said);
  claim.paper_size = {"12 × 768", "12 × 768"};
  CHECK(to_json(judged)["trained_on"] == said + "; the text's size: 12 × 768");
  for (const char* key : {"pre.a", "pre.b"}) runs.summaries["r"]["measured"][key] = same_for_all_seeds(2);
  for (Part& part : claim.parts) part.predicate.rule = Rule::every_seed;
  CHECK(judge(claim, runs).verdict == "false");
  CHECK(judge(claim, runs).where == "small nets, one setting");
  claim.note = "deep nets";  // which changes no verdict
  CHECK(judge(claim, runs).verdict == "false");
  // A run that says nothing of it does not pass for one without training.
  runs.summaries["r"].erase("trained");
  CHECK(to_json(judge(claim, runs))["trained_on"] ==
        "its run does not say on what; the text's size: 12 × 768");
  CHECK(judge(claim, runs).where == "small nets, one setting");
  runs.summaries["r"]["trained"] = Json::array();
  CHECK(judge(claim, runs).where == "before training");
  // The first entry that is part of the key counts.
  for (const char* key : {"pre.start.a", "pre.end.a"}) {
    claim.parts[0].key = key;
    runs.summaries["r"] = {
        {"program", "a study"},
        {"trained", {{{"of", "start."}, {"en", ""}, {"zh", ""}}, {{"of", ""}, {"en", said}, {"zh", "x"}}}},
        {"measured", {{key, same_for_all_seeds(0)}}}};
    CHECK(judge(claim, runs).findings[0].trained.en == (holds(key, "start.") ? "" : said));
  }
}

TEST_CASE("what a function is holds in any net, and what it makes of normal numbers before training") {
  const auto where_of = [](const std::string& study, const std::string& key) {
    const Claim claim = claim_of({key.c_str()}, {.rule = Rule::every_seed, .high = 1});
    Runs runs;
    runs.summaries["r"] = {
        {"program", study}, {"trained", Json::array()}, {"measured", {{key, same_for_all_seeds(0)}}}};
    return judge(claim, runs).where;
  };
  CHECK(where_of("norm_properties", "shift.layernorm.change") == "any net");
  CHECK(where_of("norm_properties", "relu.std") == "before training");
  CHECK(where_of("norm_properties", "batch.layernorm.change") == "any net");
  CHECK(where_of("norm_properties", "batch.batchnorm.error.b8") == "before training");
  CHECK(where_of("norm_jacobian", "fit.normal.dyisru_over_best") == "before training");
  CHECK(where_of("decay_study", "relu.std") == "before training");
  CHECK(where_of("norm_speed", "flops.rmsnorm") == "any net");
}

TEST_CASE(
    "a part that every seed misses by five widths of its bounds is warned of, with the bounds that hold in other terms") {
  const auto warning_of = [](const Predicate& asked, const std::vector<double>& seeds) {
    Claim claim = claim_of({"k"}, asked);
    Runs runs;
    runs.summaries["r"]["measured"]["k"] = to_json(spread_of(seeds));
    const Judged judged = judge(claim, runs);
    const std::string warning = judged.findings[0].warning.en;
    CHECK(holds(parts_table(judged), "Warning: k: " + warning) == !warning.empty());
    CHECK(holds(to_json(judged)["parts"][0]["outcome_text"].get<std::string>(), warning));
    CHECK(holds(to_json(judged)["reason_zh"].get<std::string>(), "五倍") == !warning.empty());
    return warning;
  };
  const struct {
    double low, high;
    std::vector<double> seeds;
    const char* meant;
  } rows[] = {{-0.05, 0.05, {0.99, 1, 1.01}, "; did you mean between = [0.95, 1.05]?"},
              {0.95, 1.05, {-0.01, 0, 0.01}, "; did you mean within = 0.05?"},
              {0.4, 0.6, {49, 50, 51}, "; did you mean between = [40, 60]?"},
              {19, 21, {0.049, 0.05, 0.051}, "; did you mean between = [0.04762, 0.05263]?"},
              {19, 21, {0.19, 0.2, 0.21}, "; did you mean between = [0.19, 0.21]?"},
              {-0.05, 0.05, {0.69, 0.7, 0.71}, ""}};
  for (const auto& [low, high, seeds, meant] : rows)
    for (const Rule rule : {Rule::every_seed, Rule::mean})
      CHECK(warning_of({rule, low, high}, seeds) ==
            std::string("every seed misses by more than five times the width of the bounds") + meant);
  // Nearer ones, one seed that is near, a bound without a width, a printed value.
  CHECK(warning_of({Rule::every_seed, -0.05, 0.05}, {0.54, 0.541, 1}).empty());
  CHECK(warning_of({Rule::every_seed, -0.05, 0.05}, {0.06, 1, 1.01}).empty());
  CHECK(warning_of({Rule::every_seed, -infinity, 0.05}, {0.99, 1, 1.01}).empty());
  CHECK(warning_of({Rule::every_seed, 0, 0}, {0.99, 1, 1.01}).empty());
  CHECK(warning_of({Rule::one_more_seed, 5, 5}, {0.99, 1, 1.01}).empty());
}

TEST_CASE("a reach is read from the rungs of a ladder, and changes no verdict") {
  Claim claim = claim_of({"k"}, {.rule = Rule::mean, .high = 0});
  Part& part = claim.parts[0];
  part.reach = {"adamw.a_minus_b", "muon_minus_adamw.a"}, part.reach_run = "ladder";
  Runs runs;
  runs.summaries["r"]["measured"]["k"] = seeds_about(part, -1);
  Json ladder = {{"measured", Json::object()}};
  for (const int rung : {1, 2, 3}) {
    const std::string width = std::to_string(32 + 16 * rung), steps = std::to_string(140 * rung);
    ladder["rungs"].push_back(
        {{"log2_compute", 35 + 2 * rung},
         {"name",
          {{"en", width + " wide, " + steps + " steps"}, {"zh", "宽 " + width + "，" + steps + " 步"}}}});
    const std::string end = ".rung" + std::to_string(rung);
    ladder["measured"]["adamw.a_minus_b" + end] = seeds_about(part, -1);
    ladder["measured"]["muon_minus_adamw.a" + end] = seeds_about(part, rung < 3 ? -1 : 1);
  }
  const auto reach_of = [&] {
    const Judged judged = judge(claim, runs);
    CHECK(judged.verdict == "true");
    const Phrase reach = reach_text(judged);
    CHECK(holds(parts_table(judged), "\nReach: k: " + reach.en + "\n"));
    CHECK(to_json(judged)["reach"] == reach.en);
    CHECK(to_json(judged)["parts"][0]["reach_zh"] == reach.in_chinese());
    return reach;
  };
  CHECK(reach_of().en ==
        "AdamW: no reach: ladder needs --full --ladder; "
        "Muon − AdamW: no reach: ladder needs --full --ladder");
  runs.kept["ladder"] = ladder;
  CHECK(reach_of().en ==
        "AdamW: holds at all sizes, 48 wide to 80 wide (kept); "
        "Muon − AdamW: flips between 64 wide and 80 wide (kept)");
  runs.missing["ladder"] = "it stopped";
  CHECK(reach_of().en.starts_with("AdamW: no reach: the run ladder could not be made: it stopped; "));
  runs.summaries["ladder"] = ladder;
  CHECK(reach_of().en ==
        "AdamW: holds at all sizes, 48 wide to 80 wide; "
        "Muon − AdamW: flips between 64 wide and 80 wide");
  CHECK(reach_of().zh.starts_with("AdamW："));
  CHECK(holds(reach_of().zh, "宽 48 至 宽 80"));
  const Json found = to_json(judge(claim, runs))["parts"][0]["reaches"][1];
  CHECK(found["word"] == "flips");
  REQUIRE(found["rungs"].size() == 3);
  CHECK(found["rungs"][2]["name_zh"] == "宽 80，420 步");
  CHECK(found["rungs"][2]["log2_compute"] == 41);
  CHECK(found["rungs"][2]["value"].get<double>() == doctest::Approx(1));
  CHECK(found["rungs"][2]["outcome"] == "does not hold");
  // A rung that lacks a value is said, and three are the fewest.
  runs.summaries["ladder"]["rungs"].push_back(
      {{"log2_compute", 43}, {"name", {{"en", "96 wide"}, {"zh", "宽 96"}}}});
  CHECK(holds(reach_of().en, "AdamW: holds at all sizes, 48 wide to 80 wide, measured on 3 of 4; Muon"));
  for (const char* key : {"adamw.a_minus_b.rung2", "muon_minus_adamw.a.rung3"})
    runs.summaries["ladder"]["measured"].erase(key);
  CHECK(reach_of().en ==
        "AdamW: no reach: the run ladder measured 'adamw.a_minus_b' at 2 of 4 sizes; "
        "wanted 3 or more; Muon − AdamW: no reach: the run ladder measured "
        "'muon_minus_adamw.a' at 2 of 4 sizes; wanted 3 or more");
  // A part whose own run is the ladder waits for it.
  part.of_ladder = true, part.run = "ladder", runs = {}, runs.kept["ladder"] = ladder;
  CHECK(judge(claim, runs).verdict == "open");
  CHECK(judge(claim, runs).reason.en == "k needs --full --ladder");
}

TEST_CASE("what may be somewhere is not refuted where it was tried, and a remark changes no verdict") {
  Claim claim = claim_of({"k"}, {.rule = Rule::every_seed, .high = 1});
  claim.says = "it may be", claim.may = true, claim.remark = "one task";
  Runs runs;
  runs.summaries["r"]["measured"]["k"] = same_for_all_seeds(2);
  CHECK(judge(claim, runs).verdict == "false");
  CHECK(to_json(judge(claim, runs))["remark"] == "one task");
  runs.summaries["r"]["measured"]["k"] = same_for_all_seeds(0);
  CHECK(judge(claim, runs).verdict == "true");
  // Where it holds once, an open part beside it changes nothing.
  claim.parts.push_back(claim.parts[0]);
  claim.parts[1].key = "open", claim.parts[1].predicate = {.rule = Rule::mean, .high = 1};
  const std::vector<double> wide{-1, 2, 0.5};
  runs.summaries["r"]["measured"]["open"] = to_json(spread_of(wide));
  CHECK(judge(claim, runs).verdict == "true");
  claim.may = false;
  CHECK(judge(claim, runs).verdict == "open");
}

}  // namespace isobar::judge_test
