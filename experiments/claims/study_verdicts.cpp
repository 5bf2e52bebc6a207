#include "study_verdicts.h"

#include <algorithm>
#include <limits>

#include "file.h"
#include "judge.h"

namespace isobar::claims {
namespace {

bool is_of_run(const Claim& claim, const std::string& name) {
  return !claim.parts.empty() && std::all_of(claim.parts.begin(), claim.parts.end(),
                                             [&](const Part& part) { return part.run == name; });
}

}  // namespace

void say_verdicts(Run& run, const std::string& name) {
  Runs runs;
  runs.summaries[name] = run.summary();
  for (const Claim* claim : builtin_table()) {
    if (!is_of_run(*claim, name)) continue;
    const Judged judged = judge(*claim, runs);
    run.say("\nText {}, claim {}: {}. {}\n{}", claim->source, claim->id, claim->says, judged.verdict,
            parts_table(judged));
  }
}

std::vector<double> printed_values(const std::string& name, const std::string& key, size_t count) {
  std::vector<double> values(count, std::numeric_limits<double>::quiet_NaN());
  for (const Claim* claim : builtin_table())
    for (const Part& part : claim->parts)
      for (size_t i = 0; i < count; ++i)
        if (part.run == name && part.predicate.rule == Rule::one_more_seed &&
            part.key == fmt::format(fmt::runtime(key), i + 1))
          values[i] = part.predicate.low;
  return values;
}

}  // namespace isobar::claims
