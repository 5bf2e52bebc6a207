#include "judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "../harness/stats.h"
#include "../harness/table.h"

namespace isobar::claims {
namespace {

// Numbers of a summary, where infinities and NaN are texts.
double number(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return infinity;
  if (json == "-inf") return -infinity;
  return std::numeric_limits<double>::quiet_NaN();
}

Spread spread_from(const Json& json) {
  return {.median = number(json.value("median", Json())),
          .min = number(json.value("min", Json())),
          .max = number(json.value("max", Json())),
          .nonfinite = json.value("nonfinite", int64_t{0})};
}

std::string text_of(const Spread& s) {
  if (std::isnan(s.median)) return "not finite";
  const std::string tail = s.nonfinite > 0 ? fmt::format(", {} not finite", s.nonfinite) : "";
  if (s.min == s.max) return figure(s.median) + tail;
  return fmt::format("{} [{}, {}]{}", figure(s.median), figure(s.min), figure(s.max), tail);
}

std::string wanted_of(const Part& part) {
  if (part.rule == Rule::one_more_seed) return fmt::format("{} as one more seed", figure(part.low));
  const std::string who = part.rule == Rule::every_seed ? "every seed " : "";
  if (part.low == part.high) return fmt::format("{}exactly {}", who, figure(part.low));
  if (part.low == -infinity) return fmt::format("{}at most {}", who, figure(part.high));
  if (part.high == infinity) return fmt::format("{}at least {}", who, figure(part.low));
  return fmt::format("{}{} to {}", who, figure(part.low), figure(part.high));
}

// A seed without a finite value counts as beyond every finite bound, above.
bool holds(const Part& part, const Spread& s) {
  const Range wanted{part.low, part.high};
  switch (part.rule) {
    case Rule::median:
      return wanted.contains(std::isnan(s.median) ? infinity : s.median);
    case Rule::every_seed:
      return wanted.contains(std::isnan(s.min) ? infinity : s.min) &&
             wanted.contains(s.nonfinite > 0 ? infinity : s.max);
    case Rule::one_more_seed:
      return !std::isnan(s.median) && one_more_seed(s).contains(part.low);
  }
  return false;
}

std::string why_not_run(const Part& part, const Missing& missing) {
  const auto known = missing.find(part.run);
  if (known != missing.end()) return fmt::format("the run {} could not be made: {}", part.run, known->second);
  return fmt::format("the run {} has no figure {}", part.run, part.key);
}

Finding find(const Part& part, const Measured& measured, const Missing& missing) {
  Finding finding{.says = part.says,
                  .figure = "",
                  .wanted = wanted_of(part),
                  .theory = std::numeric_limits<double>::quiet_NaN(),
                  .holds = false,
                  .not_run = ""};
  const auto run = measured.find(part.run);
  if (run == measured.end() || !run->second.contains(part.key)) {
    finding.not_run = why_not_run(part, missing);
    return finding;
  }
  const Json& json = run->second[part.key];
  const Spread spread = spread_from(json);
  finding.figure = text_of(spread);
  finding.theory = number(json.value("theory", Json()));
  finding.holds = holds(part, spread);
  return finding;
}

std::string_view word_of(Standing standing) {
  switch (standing) {
    case Standing::cited:
      return "cited";
    case Standing::no_source:
      return "no source found";
    default:
      return "not run here";
  }
}

std::string reason_of(const Finding& f) {
  return fmt::format("{}: {}, {} (wanted {})", f.says, f.holds ? "holds" : "does not hold", f.figure,
                     f.wanted);
}

}  // namespace

Judged judge(const Claim& claim, const Measured& measured, const Missing& missing) {
  Judged judged{.claim = &claim, .verdict = "", .reason = claim.note, .findings = {}};
  if (claim.standing != Standing::tested) {
    judged.verdict = word_of(claim.standing);
    return judged;
  }
  std::vector<std::string> reasons, lacking;
  for (const Part& part : claim.parts) {
    const Finding& finding = judged.findings.emplace_back(find(part, measured, missing));
    if (finding.not_run.empty())
      reasons.push_back(reason_of(finding));
    else if (std::find(lacking.begin(), lacking.end(), finding.not_run) == lacking.end())
      lacking.push_back(finding.not_run);
  }
  if (!lacking.empty()) {
    judged.verdict = word_of(Standing::not_run);
    judged.reason = fmt::format("{}", fmt::join(lacking, "; "));
    return judged;
  }
  const auto holding =
      std::count_if(judged.findings.begin(), judged.findings.end(), [](const Finding& f) { return f.holds; });
  const bool all = holding == std::ssize(judged.findings);
  judged.verdict = holding == 0 || (claim.one_statement && !all) ? "refuted"
                   : all && claim.note.empty()                   ? "confirmed"
                                                                 : "partly";
  if (!claim.note.empty()) reasons.push_back(fmt::format("left out: {}", claim.note));
  judged.reason = fmt::format("{}", fmt::join(reasons, "; "));
  return judged;
}

Json to_json(const Judged& judged) {
  Json parts = Json::array();
  for (size_t i = 0; i < judged.findings.size(); ++i) {
    const Finding& f = judged.findings[i];
    const Part& part = judged.claim->parts[i];
    parts.push_back({{"says", f.says},
                     {"run", part.run},
                     {"key", part.key},
                     {"measured", f.figure},
                     {"wanted", f.wanted},
                     {"why", part.why},
                     {"theory", std::isnan(f.theory) ? Json() : Json(f.theory)},
                     {"holds", f.holds},
                     {"not_run", f.not_run}});
  }
  return {{"id", judged.claim->id},
          {"source", judged.claim->source},
          {"claim", judged.claim->printed},
          {"verdict", judged.verdict},
          {"reason", judged.reason},
          {"note", judged.claim->note},
          {"parts", parts}};
}

}  // namespace isobar::claims
