// Which claims of the five sources hold? Runs every study, judges every claim, and says why.
//
//   reproduce                   small sizes, as with --quick                               about 6 minutes
//   reproduce --full            the sizes that the sources speak of                          about 3 hours
//
// Each study's results stay in a folder of their own below --out. One that is there with the same
// configuration is not run again, so an interrupted run goes on where it was; --force judges anew.
//
// Written: claims.csv; summary.json, whose "claims" give for each the verdict, the figures it was computed
// from, and the reason. The table of claims, with all bounds, is claims/table.cpp.
#include <filesystem>

#include "../core/file.h"
#include "../core/parallel.h"
#include "claims/claim.h"
#include "claims/plan.h"
#include "harness/child.h"
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

// Makes one run of the plan unless it is there. Returns its summary, or null where it failed.
Json make_run(Run& run, const PlannedRun& planned) {
  const std::string folder = run.folder() + "/" + planned.name;
  const std::string program =
      std::filesystem::path(own_path()).parent_path().string() + "/" + std::string(planned.program);
  std::vector<std::string> arguments = planned.arguments;
  arguments.push_back("--print-config");
  const Finished printed = run_child(program, arguments);
  check(printed.code == 0, "{} --print-config ended with exit code {}", program, printed.code);
  const Json config = Json::parse(printed.out);

  if (Json summary = finished_summary(folder, config); !summary.is_null()) {
    run.say("{}: there already\n", planned.name);
    return summary;
  }
  run.say("{}: {}{}{}\n", planned.name, planned.program, planned.arguments.empty() ? "" : " ",
          fmt::join(planned.arguments, " "));
  arguments.back() = "--force";
  arguments.insert(arguments.end(), {"--out", folder, "--threads", std::to_string(threads())});
  const Finished finished = run_child(program, arguments);
  run.expect(planned.name, finished.code == 0,
             fmt::format("{} ended with exit code {}", planned.program, finished.code));
  return finished_summary(folder, config);
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
  return run_program(program, config, argc, argv, [&](Run& run) {
    check(!config.quick || !config.full, "--quick and --full exclude each other: drop one");
    Measured measured;
    Json runs = Json::array();
    for (const PlannedRun& planned : plan(config.full ? "full" : "quick")) {
      if (!config.only.empty() && config.only != planned.name) continue;
      const Json summary = make_run(run, planned);
      runs.push_back({{"name", planned.name}, {"done", !summary.is_null()}});
      if (summary.is_object() && summary.contains("measured")) measured[planned.name] = summary["measured"];
    }
    check(!runs.empty(), "--only: no run is called '{}'", config.only);
    run.summary()["runs"] = std::move(runs);
    std::vector<Judged> all;
    for (const Claim& claim : table()) all.push_back(judge(claim, measured));
    publish(run, all);
  });
}
