// The table of claims: it is complete, every predicate can hold and can fail, and verdicts follow the
// measured files.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "../experiments/claims/file.h"
#include "../experiments/claims/judge.h"
#include "../experiments/claims/plan.h"
#include "../experiments/harness/stats.h"
#include "program.h"
#include "scoped_variable.h"

using namespace isobar;
using namespace isobar::claims;

namespace {

Json same_for_all_seeds(double value) {
  const std::vector<double> values(5, value);
  return with_named_infinities(to_json(spread_of(values)));
}

// A figure that bears a part out, and one that does not.
double bearing_out(const Part& part) {
  if (part.low == -infinity) return part.high;
  return part.low;
}
double contradicting(const Part& part) {
  if (part.high < infinity) return part.high + 1 + std::abs(part.high);
  return part.low - 1 - std::abs(part.low);
}

Measured figures(const Claim& claim, double (*value)(const Part&)) {
  Measured measured;
  for (const Part& part : claim.parts)
    measured[std::string(part.run)][std::string(part.key)] = same_for_all_seeds(value(part));
  return measured;
}

}  // namespace

TEST_CASE("every claim of the sources has one row") {
  std::vector<std::string> wanted;
  for (const auto& [letter, last] : {std::pair{'A', 13}, {'B', 11}, {'C', 10}, {'D', 32}, {'F', 21}})
    for (int i = 1; i <= last; ++i) wanted.push_back(fmt::format("{}{:02}", letter, i));
  std::vector<std::string> ids;
  for (const Claim* claim : builtin_table()) ids.push_back(claim->id);
  CHECK(ids == wanted);
}

TEST_CASE("every row says what it needs: parts and their reasons, or why there are none") {
  std::set<std::string> runs;
  for (const PlannedRun& run : plan(builtin_claims(), "full")) runs.insert(run.name);
  for (const Claim* one : builtin_table()) {
    const Claim& claim = *one;
    CAPTURE(claim.id);
    CHECK_FALSE(claim.printed.empty());
    CHECK((claim.standing == Standing::tested) == !claim.parts.empty());
    if (claim.standing != Standing::tested) CHECK_FALSE(claim.note.empty());
    for (const Part& part : claim.parts) {
      CAPTURE(part.key);
      CHECK_FALSE(part.says.empty());
      CHECK_FALSE(part.why.empty());
      CHECK(part.low <= part.high);
      CHECK((part.low > -infinity || part.high < infinity));
      CHECK(runs.contains(std::string(part.run)));
    }
  }
}

TEST_CASE("every predicate is borne out by one measurement and contradicted by another") {
  for (const Claim* one : builtin_table()) {
    const Claim& claim = *one;
    if (claim.standing != Standing::tested) continue;
    CAPTURE(claim.id);
    CHECK(judge(claim, figures(claim, bearing_out)).verdict == (claim.note.empty() ? "confirmed" : "partly"));
    CHECK(judge(claim, figures(claim, contradicting)).verdict == "refuted");
    // One part alone turns the verdict.
    Measured measured = figures(claim, bearing_out);
    const Part& last = claim.parts.back();
    measured[std::string(last.run)][std::string(last.key)] = same_for_all_seeds(contradicting(last));
    const bool only = claim.parts.size() == 1;
    CHECK(judge(claim, measured).verdict == (only || claim.one_statement ? "refuted" : "partly"));
    // Nothing is judged by what was not measured.
    measured[std::string(last.run)].erase(std::string(last.key));
    const Judged missing = judge(claim, measured);
    CHECK(missing.verdict == "not run here");
    CHECK(missing.reason == fmt::format("the run {} has no figure {}", last.run, last.key));
    const Judged explained = judge(claim, measured, {{std::string(last.run), "no data"}});
    CHECK(explained.verdict == "not run here");
    CHECK(explained.reason == fmt::format("the run {} could not be made: no data", last.run));
    CHECK(explained.findings.back().not_run == explained.reason);
  }
}

TEST_CASE("an overflow of one seed is no small number") {
  const Part below{"it is small", "run", "key", Rule::every_seed, -infinity, 1, "a bound"};
  const Claim claim{.id = "X", .source = "", .printed = "", .parts = {below}};
  Measured measured;
  const std::vector<double> values{0.5, infinity, 0.25};
  measured["run"]["key"] = to_json(spread_of(values));
  CHECK(judge(claim, measured).verdict == "refuted");
}

TEST_CASE("quick and full exclude each other") {
  const TemporaryFolder folder;
  const Outcome outcome = run_built("reproduce", "--quick --full --out " + (folder / "all"));
  CHECK(outcome.code == 2);
  CHECK(outcome.err == "reproduce: --quick and --full exclude each other: drop one\n");
}

TEST_CASE("an unknown run is refused with the nearest name, before anything runs") {
  const TemporaryFolder folder;
  const Outcome outcome = run_built("reproduce", "--only norm_propertys --out " + (folder / "all"));
  CHECK(outcome.code == 2);
  CHECK(outcome.out.empty());
  CHECK(outcome.err.ends_with("got 'norm_propertys'; did you mean norm_properties?\n"));
  CHECK_FALSE(std::filesystem::exists(folder / "all/summary.json"));
}

TEST_CASE("a study that cannot run here leaves its claims unjudged, with its own complaint") {
  const TemporaryFolder folder;
  const std::string out = folder / "all";
  folder.write("mnist/t10k-images-idx3-ubyte", "not images");
  const ScopedVariable data("ISOBAR_DATA", folder.path().string());
  const Outcome outcome = run_built("reproduce", "--only depth_trainability --out " + out);
  CHECK(outcome.code == 3);
  CHECK(outcome.err.find("mnist: neither t10k-labels") != std::string::npos);
  const Json written = Json::parse(file_text(out + "/summary.json"));
  CHECK(written["expectations"].empty());
  CHECK_FALSE(written["runs"][0]["done"].get<bool>());
  for (const Json& claim : written["claims"]) {
    if (claim["id"] != "D13") continue;
    CHECK(claim["verdict"] == "not run here");
    const std::string reason = claim["parts"].back()["not_run"];
    CHECK(reason.starts_with("the run depth_trainability could not be made: depth_trainability: "));
    CHECK(claim["reason"].get<std::string>().ends_with(reason));
  }
}

TEST_CASE("verdicts follow the measured files, and finished runs are not made again") {
  const TemporaryFolder folder;
  const std::string out = folder / "all", arguments = "--quick --only norm_properties --out " + out;
  const auto verdict = [&](const char* id) {
    const Json written = Json::parse(file_text(out + "/summary.json"));
    for (const Json& claim : written["claims"])
      if (claim["id"] == id) return claim["verdict"].get<std::string>();
    return std::string();
  };
  Outcome outcome = run_built("reproduce", arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.code == 0);
  CHECK(verdict("A05") == "confirmed");
  CHECK(verdict("C03") == "partly");
  CHECK(verdict("D11") == "refuted");
  CHECK(verdict("D01") == "not run here");
  CHECK(verdict("D20") == "no source found");
  CHECK(verdict("D30") == "cited");

  const std::string path = out + "/norm_properties/summary.json";
  Json summary = Json::parse(file_text(path));
  summary["measured"]["shift.layernorm.change"] = same_for_all_seeds(0.5);
  summary["measured"]["length.euclidean"] = same_for_all_seeds(1);
  std::ofstream(path) << summary.dump(2);
  outcome = run_built("reproduce", arguments + " --force");
  REQUIRE(outcome.code == 0);
  CHECK(outcome.out.find("norm_properties: there already") != std::string::npos);
  summary["expectations"][0]["ok"] = false;
  std::ofstream(path) << summary.dump(2);
  CHECK(run_built("reproduce", arguments + " --force").code == 1);  // kept, but not forgotten
  CHECK(verdict("A05") == "refuted");
  CHECK(verdict("D11") == "confirmed");
  CHECK(verdict("C03") == "partly");
}
