// Which claims of the five sources hold? Runs every study, judges every claim, and says why.
//
//   reproduce                   small sizes, as with --quick                               about 6 minutes
//   reproduce --full            the sizes that the sources speak of                          about 3 hours
//
// Each study's results stay in a folder of their own below --out. One that is there with the same
// configuration is not run again, so an interrupted run goes on where it was; --force judges anew. A study
// that ends with 2 cannot run here, e.g. for want of MNIST's images: its claims are "not run here", with the
// line that it left on stderr.
//
// Exit codes: 0 done; 1 a study failed; 2 bad usage; 3 done, but for studies that cannot run here.
//
// Written: claims.csv; summary.json, whose "claims" give for each the verdict, the figures it was computed
// from, and the reason. The table of claims, with all bounds, is claims/table.cpp.
#include <algorithm>
#include <filesystem>

#include "../core/parallel.h"
#include "../data/file.h"
#include "claims/file.h"
#include "claims/judge.h"
#include "claims/plan.h"
#include "harness/child.h"
#include "harness/nearest.h"
#include "harness/program.h"
#include "harness/table.h"

using namespace isobar;
using namespace isobar::claims;

namespace {

struct Config : HasFields {
  bool quick = false, full = false;  // neither: quick
  std::string only = "";
  void fields(Fields& f) override {
    f("quick", quick, "small sizes, the default");
    f("full", full, "the sources' sizes");
    f("only", only, "run this one of the plan's runs alone; claims that need others count as not run here");
  }
};

// The summary of a finished run of this configuration; null where there is none.
Json finished_summary(const std::string& folder, const Json& config) {
  const std::string path = folder + "/summary.json";
  if (!std::filesystem::exists(path)) return {};
  Json summary = Json::parse(read_file(path, size_t{1} << 30), nullptr, false);
  const bool same = summary.is_object() && summary.contains("config") && summary["config"] == config;
  return same ? summary : Json();
}

// The runs to make. Throws Error where --only names none of the plan's.
std::vector<PlannedRun> wanted_runs(const Config& config) {
  check(!config.quick || !config.full, "--quick and --full exclude each other: drop one");
  std::vector<PlannedRun> runs = plan(builtin_claims(), config.full ? "full" : "quick");
  if (config.only.empty()) return runs;
  std::vector<std::string> names;
  for (const PlannedRun& planned : runs) names.push_back(planned.name);
  std::erase_if(runs, [&](const PlannedRun& planned) { return planned.name != config.only; });
  check(!runs.empty(), "--only: wanted one of {}, got '{}'{}", fmt::join(names, ", "), config.only,
        did_you_mean(config.only, names));
  return runs;
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t before = text.find_last_of('\n', end);
  return text.substr(before == std::string::npos ? 0 : before + 1, end - before);
}

struct Made {
  Json summary;            // null where the run failed
  std::string cannot_run;  // its complaint, where it cannot run here
};

// Makes one run of the plan unless it is there.
Made make_run(Run& run, const PlannedRun& planned) {
  const std::string folder = run.folder() + "/" + planned.name;
  const std::string program =
      std::filesystem::path(own_path()).parent_path().string() + "/" + std::string(planned.program);
  std::vector<std::string> arguments = planned.arguments;
  arguments.insert(arguments.end(), {"--seed", std::to_string(run.seed()), "--print-config"});
  const Finished printed = run_child(program, arguments);
  check(printed.code == 0, "{} --print-config ended with exit code {}", program, printed.code);
  const Json config = Json::parse(printed.out);

  if (Json summary = finished_summary(folder, config); !summary.is_null()) {
    run.say("{}: there already\n", planned.name);
    const Json expectations = summary.value("expectations", Json::array());
    const bool met = std::all_of(expectations.begin(), expectations.end(),
                                 [](const Json& e) { return e.value("ok", false); });
    run.expect(planned.name, met, "is there already, with expectations that were not met");
    return {std::move(summary), ""};
  }
  run.say("{}: {}{}{}\n", planned.name, planned.program, planned.arguments.empty() ? "" : " ",
          fmt::join(planned.arguments, " "));
  arguments.back() = "--force";
  arguments.insert(arguments.end(), {"--out", folder, "--threads", std::to_string(threads())});
  const Finished finished = run_child(program, arguments);
  if (finished.code == 2) return {Json(), last_line(finished.err)};
  run.expect(planned.name, finished.code == 0,
             fmt::format("{} ended with exit code {}", planned.program, finished.code));
  return {finished_summary(folder, config), ""};
}

void publish(Run& run, const std::vector<Judged>& all) {
  Table table({"claim", "source", "verdict", "because"});
  Csv& csv = run.csv("claims.csv", {"id", "source", "claim", "verdict", "reason"});
  Json claims = Json::array();
  std::map<std::string, int64_t> counts;
  for (const Judged& judged : all) {
    const Claim& claim = *judged.claim;
    table.row({fmt::format("{} {}", claim.id, claim.printed), std::string(claim.source), judged.verdict,
               judged.reason});
    csv.row({std::string(claim.id), std::string(claim.source), std::string(claim.printed), judged.verdict,
             judged.reason});
    claims.push_back(to_json(judged));
    ++counts[judged.verdict];
  }
  run.summary()["claims"] = std::move(claims);
  run.summary()["counts"] = counts;
  run.say("\n{}\n", table.text());
  for (const auto& [verdict, count] : counts) run.say("{:4} {}\n", count, verdict);
}

}  // namespace

int main(int argc, char** argv) {
  Config config;
  const Program program{
      .name = "reproduce",
      .about = "Which claims of the five sources hold? Runs every study, judges every claim."};
  bool all_run = true;
  const int code = run_program(program, config, argc, argv, [&](Run& run) {
    Measured measured;
    Missing missing;
    Json runs = Json::array();
    for (const PlannedRun& planned : wanted_runs(config)) {
      const auto [summary, cannot_run] = make_run(run, planned);
      runs.push_back({{"name", planned.name}, {"done", !summary.is_null()}, {"cannot_run", cannot_run}});
      if (summary.is_object() && summary.contains("measured")) measured[planned.name] = summary["measured"];
      if (cannot_run.empty()) continue;
      missing[planned.name] = cannot_run;
      run.say("{}: cannot run here; its claims are not judged\n", planned.name);
      all_run = false;
    }
    run.summary()["runs"] = std::move(runs);
    std::vector<Judged> all;
    for (const Claim* claim : builtin_table()) all.push_back(judge(*claim, measured, missing));
    publish(run, all);
  });
  return code == 0 && !all_run ? 3 : code;
}
