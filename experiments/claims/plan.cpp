#include "plan.h"

#include <algorithm>
#include <map>

#include <fmt/ranges.h>

#include "../../core/error.h"

namespace isobar::claims {
namespace {

void check_ids(const std::vector<ClaimFile>& files) {
  std::map<std::string, std::string> seen;  // the file of each id
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) {
      const auto [other, is_new] = seen.emplace(claim.id, file.path);
      check(is_new, "{}, line {}: claim {} is in {} too; rename one", file.path, claim.line, claim.id,
            other->second);
    }
}

}  // namespace

std::vector<PlannedRun> plan(const std::vector<ClaimFile>& files, std::string_view scale) {
  std::vector<PlannedRun> runs;
  check_ids(files);
  for (const ClaimFile& file : files)
    for (const RunSpec& spec : file.runs) {
      const bool full = scale == "full" && spec.full != spec.quick;
      PlannedRun run{spec.name, full ? spec.name + ".full" : spec.name, spec.study, spec.flags,
                     fmt::format("{}, line {}", file.path, spec.line)};
      run.shipped = file.shipped;
      const std::vector<std::string>& more = scale == "full" ? spec.full : spec.quick;
      run.arguments.insert(run.arguments.end(), more.begin(), more.end());
      const auto same =
          std::find_if(runs.begin(), runs.end(), [&](const PlannedRun& r) { return r.name == run.name; });
      if (same == runs.end()) {
        runs.push_back(std::move(run));
        continue;
      }
      check(same->program == run.program && same->arguments == run.arguments,
            "{}, line {}: run {} is '{} {}' here and '{} {}' in another file; rename one", file.path,
            spec.line, run.name, run.program, fmt::join(run.arguments, " "), same->program,
            fmt::join(same->arguments, " "));
    }
  return runs;
}

}  // namespace isobar::claims
