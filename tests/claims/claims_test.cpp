// The claims of the texts: complete, with predicates that can hold and can fail, and verdicts that follow the
// measured values. How parts make a verdict is tested in judge_test.cpp, the rules themselves in
// rules_test.cpp, files with mistakes in claim_file_test.cpp, the verdicts of the last full run in
// kept_verdicts_test.cpp.
#include <doctest/doctest.h>

#include <numeric>
#include <regex>
#include <set>

#include "../../experiments/claims/file.h"
#include "../../experiments/claims/plan.h"
#include "../../experiments/claims/verdict.h"
#include "../run.h"
#include "../scoped_variable.h"
#include "claim_seeds.h"

namespace isobar::claims_test {

using namespace isobar::claims;

// A value that bears a part out, and one that does not.
double bearing_out(const Part& part) {
  const Predicate& p = part.predicate;
  if (p.low == p.high) return p.low;
  // Farther from a bound than the margin, within which there is no difference.
  if (p.low == -infinity) return p.log ? p.high / 2 : p.high - 2 * p.margin - 1e-6 * (1 + std::abs(p.high));
  if (p.high == infinity) return p.low + 2 * p.margin + 1e-6 * (1 + std::abs(p.low));
  return std::midpoint(p.low, p.high);
}
double contradicting(const Part& part) {
  const Predicate& p = part.predicate;
  if (p.high < infinity) return p.high + 1 + std::abs(p.high);
  return p.log ? p.low / 2 : p.low - 1 - std::abs(p.low);
}

// As the parts of one claim may ask two things of one value, each gets a value of its own.
Claim with_keys_of_their_own(Claim claim) {
  for (size_t i = 0; i < claim.parts.size(); ++i) {
    Part& part = claim.parts[i];
    part.key = fmt::format("{} {}", part.key, i);
    part.pooled = false, part.minus = part.plus = part.over = "";  // which judge_test.cpp tests
  }
  // So are controls, and what is false by a source whatever is measured.
  std::erase_if(claim.parts, [](const Part& part) { return part.control; });
  claim.no_source = {};
  return claim;
}

Runs values(const Claim& claim, double (*value)(const Part&)) {
  Runs runs;
  for (const Part& part : claim.parts)
    runs.summaries[part.run]["measured"][part.key] = seeds_about(part, value(part));
  return runs;
}

TEST_CASE("every row of the texts is complete, in both languages") {
  for (const Claim* claim : builtin_table()) {
    CAPTURE(claim->id);
    CHECK_FALSE(claim->quote.empty());
    CHECK_FALSE(claim->says.zh.empty());
    CHECK(claim->note.en.empty() == claim->note.zh.empty());
    CHECK(claim->implied.en.empty() == claim->implied.zh.empty());
    for (const Part& part : claim->parts) {
      CAPTURE(part.says.en);
      CHECK_FALSE(part.says.zh.empty());
      CHECK_FALSE(part.why.zh.empty());
      // The page shows a part without those before it.
      CHECK_FALSE(part.why.en.starts_with("as above"));
      CHECK_FALSE(part.why.zh.starts_with("同上"));
    }
    for (const Passage& passage : claim->passages) CHECK_FALSE(passage.reading.zh.empty());
  }
}

// experiments/claims/coverage.md is made of these items.
TEST_CASE("each item of the texts names claims, a command that its program takes, or why there is none") {
  std::set<std::string> named, known;
  for (const ClaimFile& file : builtin_claims())
    for (const std::string& item : file.source.items) {
      CAPTURE(item);
      const std::string how = item.substr(item.find(" | ") + 3);
      const std::regex id("\\b[A-Z][0-9]{2}\\b"), command("`(\\w+)([^`]*)`");
      const std::sregex_iterator ids(how.begin(), how.end(), id), commands(how.begin(), how.end(), command),
          end;
      CHECK((ids != end || commands != end || how.starts_with("cannot run here: ")));
      for (auto at = ids; at != end; ++at) named.insert(at->str());
      for (auto at = commands; at != end; ++at) {
        ran((*at)[1], (*at)[2].str() + " --print-config");
      }
    }
  for (const Claim* claim : builtin_table()) known.insert(claim->id);
  CHECK(named == known);
}

TEST_CASE("no part gives a word another tolerance than tolerance.cpp does") {
  for (const Claim* claim : builtin_table())
    for (const Part& part : claim->parts) {
      const Predicate& p = part.predicate;
      if (p.rule != Rule::mean && p.rule != Rule::time) continue;
      CAPTURE(claim->id);
      CAPTURE(part.key);
      const bool two_sided = std::isfinite(p.low) && std::isfinite(p.high);
      if (two_sided && part.key.ends_with("share_of_gain")) CHECK(part.word == "as_good");
      if (!two_sided) CHECK_FALSE((p.low == 0 || p.high == 0));  // that is better = "above 0" or "below 0"
    }
}

TEST_CASE("every predicate is borne out by one measurement and contradicted by another") {
  for (const Claim* row : builtin_table()) {
    if ((row->kind != Kind::measured && row->kind != Kind::definition) || row->parts.empty()) continue;
    CAPTURE(row->id);
    const Claim claim = with_keys_of_their_own(*row);
    CHECK(judge(claim, values(claim, bearing_out)).verdict == "true");
    CHECK(judge(claim, values(claim, contradicting)).verdict == "false");
    // One part alone turns the verdict; of those beside which a part over all settings does not count, that is the last.
    Runs runs = values(claim, bearing_out);
    const size_t at = claim.parts.size() - 1 -
                      static_cast<size_t>(std::ranges::find(claim.parts.rbegin(), claim.parts.rend(), false,
                                                            &Part::settings) -
                                          claim.parts.rbegin());
    const Part& last = claim.parts.at(at);
    Json& measured = runs.summaries[last.run]["measured"];
    measured[last.key] = seeds_about(last, contradicting(last));
    const bool only = at == 0;
    CHECK(judge(claim, runs).verdict == (only || claim.one_statement ? "false" : "depends"));
    // What was not measured decides nothing.
    measured.erase(last.key);
    const Judged missing = judge(claim, runs);
    CHECK(missing.verdict == (last.full_only || last.of_ladder ? "open" : "not tested"));
    CHECK_FALSE(missing.findings[at].not_run.empty());
    // Nor, but for identities, by one seed.
    if (last.predicate.rule != Rule::mean) continue;
    const std::vector<double> one{bearing_out(last)};
    measured[last.key] = to_json(spread_of(one));
    // What may be so somewhere is so where another part holds.
    CHECK(judge(claim, runs).verdict == (claim.may && !only && !last.control ? "true" : "open"));
    measured[last.key] = seeds_about(last, bearing_out(last));
    CHECK(judge(claim, runs).verdict == "true");
  }
}

TEST_CASE("integers are printed in full") {
  CHECK(exact_number_text(25829888) == "25829888");
  CHECK(exact_number_text(0.33731) == "0.3373");
  CHECK(text_of({Rule::every_seed, 3151360, 3151360, false}).en == "every seed exactly 3151360");
  CHECK(text_of({Rule::mean, -0.05, 0.05, false}).en == "mean within ±0.05");
}

TEST_CASE("the course's printed stds are those of claim D01") {
  const std::string handout = file_text(std::string(ISOBAR_SOURCE_DIR) + "/experiments/course/a6/handout.md"),
                    cases = file_text(std::string(ISOBAR_SOURCE_DIR) + "/experiments/course/a6/cases.py");
  for (const Claim* claim : builtin_table()) {
    if (claim->id != "D01") continue;
    for (const Part& part : claim->parts) {
      const std::string printed = fmt::format("{}", part.predicate.low);
      CHECK(holds(handout, printed));
      CHECK(holds(cases, printed));
    }
  }
}

TEST_CASE("an unknown run is refused with the nearest name, before anything runs") {
  const TemporaryFolder folder;
  check_refused("isobar verify", "--only norm_propertys --out " + (folder / "all"),
                "got 'norm_propertys'; did you mean norm_properties?\n");
  CHECK_FALSE(std::filesystem::exists(folder / "all/summary.json"));
}

TEST_CASE("a study that cannot run here leaves its claims without a verdict, with its own message") {
  const TemporaryFolder folder;
  const std::string out = folder / "all";
  folder.write("mnist/t10k-images-idx3-ubyte", "not images");
  const ScopedVariable data("ISOBAR_DATA", folder.path().string());
  const Outcome outcome = run_built("isobar verify", "--only depth_trainability --out " + out);
  CHECK(outcome.code == 3);
  const Json written = Json::parse(file_text(out + "/summary.json"));
  CHECK(written["expectations"].empty());
  CHECK_FALSE(written["runs"][0]["done"].get<bool>());
  for (const Json& claim : written["claims"]) {
    if (claim["id"] != "F16") continue;
    CHECK(claim["verdict"] == "not tested");
    const std::string reason = claim["parts"].back()["not_run"];
    CHECK(reason.starts_with("the run depth_trainability could not be made: "));
    CHECK(holds(reason, ": depth_trainability: mnist: none of t10k-labels"));
    CHECK(holds(claim["reason"].get<std::string>(), reason));
  }
}

TEST_CASE("a study that cannot write its results has failed; that is not one that cannot run here") {
  const TemporaryFolder folder;
  folder.write("all/norm_properties", "a file where the folder of the run belongs");
  const Outcome outcome =
      run_built("isobar verify", "--only norm_properties --force --out " + (folder / "all"));
  CHECK(outcome.code == 1);
  CHECK(holds(outcome.out, "norm_properties: failed; its claims are not judged: "));
  CHECK_FALSE(holds(outcome.out, "cannot run here"));
  const Json written = Json::parse(file_text(folder / "all/summary.json"));
  REQUIRE(written["expectations"].size() == 1);
  CHECK(holds(written["expectations"][0]["detail"].get<std::string>(), "norm_properties: --out: "));
}

TEST_CASE("verdicts follow the measured files, and finished runs are not made again") {
  const TemporaryFolder folder;
  const std::string out = folder / "all", arguments = "--quick --only norm_properties --out " + out;
  Json written;
  const auto row = [&](const char* id) {
    for (const Json& claim : written["claims"])
      if (claim["id"] == id) return claim;
    return Json();
  };
  const auto verdict = [&](const char* id) { return row(id)["verdict"].get<std::string>(); };
  Outcome outcome = run_built("isobar verify", arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  written = Json::parse(file_text(out + "/summary.json"));
  CHECK(verdict("A05") == "true");
  CHECK(verdict("C03") == "depends");
  CHECK(verdict("D11") == "depends");
  CHECK(verdict("A07") == "true");
  CHECK(verdict("A10") == "depends");
  CHECK(verdict("D01") == "not tested");
  CHECK(verdict("D26") == "true");  // by its source
  // What a row must have, for the page and for whoever cites it.
  for (const char* field :
       {"source", "quote", "claim", "claim_zh", "verdict", "reason", "reason_zh", "scale"})
    CHECK_FALSE(row("D11")[field].get<std::string>().empty());
  const Json part = row("D11")["parts"][1];
  for (const char* field :
       {"rule", "wanted", "wanted_zh", "measured", "measured_zh", "why", "why_zh", "outcome"})
    CHECK_FALSE(part[field].get<std::string>().empty());
  CHECK(part["n"] == 20);
  CHECK(part["interval"][0].get<double>() > 22);

  const std::string path = out + "/norm_properties/summary.json";
  Json summary = Json::parse(file_text(path));
  summary["measured"]["shift.layernorm.change"] = same_for_all_seeds(0.5);
  Part of_mean;
  of_mean.predicate.rule = Rule::mean;
  Json& lengths = summary["measured"]["length.euclidean"] = seeds_about(of_mean, 1);
  lengths["values"].push_back(1.0);
  summary["expectations"][0]["ok"] = false;
  std::ofstream(path) << summary.dump(2);
  const Outcome again = run_built("isobar verify", arguments + " --force");
  CHECK(holds(again.out, "norm_properties: there already"));
  CHECK(again.code == 1);  // kept, but not forgotten
  written = Json::parse(file_text(out + "/summary.json"));
  CHECK(verdict("A05") == "false");
  CHECK(verdict("D11") == "true");
  CHECK(row("D11")["parts"][1]["looks"] == Json({20, 21}));
  CHECK(verdict("C03") == "depends");
}

TEST_CASE("a run says its seeds and how to have more; a duel's are those of its pairs") {
  const PlannedRun mine{
      .name = "r", .folder = "r", .program = "duel", .arguments = {}, .where = "mine.toml, line 9"};
  CHECK(seeds_text(mine, {{"seed", 3}, {"seeds", 5}}) ==
        "seeds 3 … 7; more: by --seeds in the flags of the run mine.toml, line 9");
  CHECK(seeds_text(mine, {{"seed", 3}, {"seeds", 1}, {"max_pairs", 8}}) ==
        "at most 8 pairs of seeds from 3 on; more: by --max_pairs in the flags of the run mine.toml, line 9");
  CHECK(seeds_text(mine, {{"seed", 3}}).empty());
}

}  // namespace isobar::claims_test
