#include "study_runs.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/ranges.h>

#include "../../core/parallel.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../harness/child.h"
#include "../harness/environment.h"
#include "pace.h"
#include "run_spec.h"

namespace isobar::claims {
namespace {

// Programs stand in one folder, but for those that the user named.
std::string program_path(const PlannedRun& planned) {
  if (!planned.path.empty()) return planned.path;
  return std::filesystem::path(own_path()).parent_path().string() + "/" + planned.program;
}

std::string last_line(const std::string& text) {
  const size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return "";
  const size_t before = text.find_last_of('\n', end);
  return text.substr(before == std::string::npos ? 0 : before + 1, end - before);
}

// The summary of a finished run of this configuration by this version; null where there is none. A program of the user's
// own tells no version of its norm: it must be older than its results.
Json finished_summary(const std::string& folder, const Json& config, const PlannedRun& planned) {
  const std::string path = folder + "/summary.json";
  if (!std::filesystem::exists(path)) return {};
  if (!planned.path.empty() &&
      std::filesystem::last_write_time(planned.path) > std::filesystem::last_write_time(path))
    return {};
  Json summary = parse_json<Json>(read_file(path, size_t{1} << 30));
  const bool same = summary.is_object() && summary.value("config", Json()) == config &&
                    summary.value("/environment/version"_json_pointer, "") == isobar_version();
  return same ? summary : Json();
}

}  // namespace

Json config_of(const PlannedRun& planned, int64_t seed, const std::string& where) {
  std::vector<std::string> arguments = planned.arguments;
  arguments.insert(arguments.end(), {"--seed", std::to_string(seed), "--print-config"});
  const Finished printed = run_child(program_path(planned), arguments, Complaints::kept);
  check(printed.code == 0, "{}: {}", where, last_line(printed.err));
  const Json config = parse_json<Json>(printed.out);
  check(config.is_object(), "{}: {}: its flags ask for something else than a run; give it settings alone",
        where, planned.program);
  for (const std::string& word : planned.arguments) {
    std::string name = setting_of(word);
    const bool preset = config.value("preset", "") == name;
    if (name.starts_with("no_") && config.value(name.substr(3), Json()).is_boolean()) name.erase(0, 3);
    check(name.empty() ? word != "--" : preset || config.contains(name),
          "{}: {}: {} is no setting of it; drop it", where, planned.program, word);
  }
  return config;
}

bool is_made(const Run& run, const PlannedRun& planned, const Json& config) {
  return !finished_summary(run.folder() + "/" + planned.folder, config, planned).is_null();
}

Made make_run(Run& run, const PlannedRun& planned, const Json& config, const std::optional<Cost>& most) {
  const std::string folder = run.folder() + "/" + planned.folder;
  if (Json summary = finished_summary(folder, config, planned); !summary.is_null()) {
    run.say("{}: there already\n", planned.name);
    const Json expectations = summary.value("expectations", Json::array());
    const bool met = std::all_of(expectations.begin(), expectations.end(),
                                 [](const Json& e) { return e.value("ok", false); });
    run.expect(planned.name, met, "is there already, with expectations that were not met");
    return {.summary = std::move(summary), .complaint = ""};
  }
  run.say("{}: {}{}{}\n", planned.name, planned.path.empty() ? planned.program : planned.path,
          planned.arguments.empty() ? "" : " ", fmt::join(planned.arguments, " "));
  std::vector<std::string> arguments = planned.arguments;
  arguments.insert(arguments.end(), {"--seed", std::to_string(run.seed()), "--force", "--out", folder,
                                     "--threads", std::to_string(threads())});
  const Finished finished =
      most ? run_child("/bin/sh", limited(program_path(planned), arguments, *most, threads()))
           : run_child(program_path(planned), arguments);
  std::string complaint = fmt::format("{}: {}", planned.where, last_line(finished.err));
  if (most && finished.code == 128 + SIGXCPU)
    complaint = fmt::format("{}: {} took more than {}; choose smaller sizes, or --allow_large", planned.where,
                            planned.program, rough_time(most->seconds));
  if (finished.code == 3) return {.summary = Json(), .complaint = complaint, .cannot_run = true};
  check(finished.code != 2 || planned.shipped, "{}", complaint);
  Json summary = finished_summary(folder, config, planned);
  const bool made = !summary.is_null();
  if (finished.code == 0 && !made) complaint = planned.where + ": no results of these settings are there";
  run.expect(planned.name, finished.code == 0 && made,
             fmt::format("{} ended with exit code {}: {}", planned.program, finished.code, complaint));
  return {.summary = std::move(summary), .complaint = made ? "" : complaint};
}

}  // namespace isobar::claims
