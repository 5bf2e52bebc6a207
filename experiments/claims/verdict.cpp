#include "verdict.h"

#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../harness/table.h"

namespace isobar::claims {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// The looks at this value with the present one, which costs nothing where it was taken before.
std::vector<int64_t> looks_at(const Part& part, const Spread& seeds, const Runs& runs) {
  const auto earlier = runs.looks.find({part.run, part.key});
  std::set<int64_t> looks{std::ssize(seeds.values)};
  if (earlier != runs.looks.end()) looks.insert(earlier->second.begin(), earlier->second.end());
  return {looks.begin(), looks.end()};
}

Finding find(const Part& part, const Runs& runs, int64_t parts) {
  Finding finding{&part};
  const auto run = runs.summaries.find(part.run);
  const Json measured = run == runs.summaries.end() ? Json() : run->second.value("measured", Json::object());
  if (!measured.contains(part.key)) {
    const auto known = runs.missing.find(part.run);
    finding.at_full_scale = part.full_only && known == runs.missing.end();
    finding.not_run = known != runs.missing.end()
                          ? fmt::format("the run {} could not be made: {}", part.run, known->second)
                      : part.full_only ? fmt::format("{} needs --full", part.says.en)
                                       : fmt::format("the run {} has no value {}", part.run, part.key);
    return finding;
  }
  const bool busy = measured.contains("machine.busy") && number_from(measured["machine.busy"]["median"]) != 0;
  finding.seeds = spread_from(measured[part.key]);
  finding.theory = number_from(measured[part.key].value("theory", Json()));
  finding.corpus = run->second.value("corpus", "");
  finding.trained = trained_on(run->second, part.key);
  finding.looks = looks_at(part, finding.seeds, runs);
  const int64_t look = std::ssize(finding.looks);
  finding.reading = read(part.predicate, finding.seeds, parts, look, busy);
  if (finding.reading.outcome == PartOutcome::too_few_seeds)
    finding.needed = seeds_needed(part.predicate, finding.seeds, parts, look);
  return finding;
}

std::string range_text(const Range& range) {
  return fmt::format("[{}, {}]", exact_number_text(range.low), exact_number_text(range.high));
}

const std::string& in(Language language, const Phrase& phrase) {
  return language == Language::zh ? phrase.in_chinese() : phrase.en;
}
// Of each language one.
template <class F>
Phrase in_both(const F& text) {
  return {text(Language::en), text(Language::zh)};
}

// "0.3373 [0.3323, 0.3465], 20 seeds"
std::string measured_text(const Finding& f, Language language) {
  if (f.seeds.n == 0) return in(language, {"not finite", "非有限"});
  std::string text = value_text(f);
  if (f.seeds.values.size() == 1 && f.part->predicate.rule == Rule::every_seed)
    text += in(language, {", one value, no error rate", "，仅一个值，没有误差率"});
  const auto add = [&](const Phrase& phrase, auto number) {
    text += fmt::format(fmt::runtime(in(language, phrase)), number);
  };
  if (f.seeds.n > 1) add({", {} seeds", ", {} 个种子"}, f.seeds.n);
  if (f.looks.size() > 1) add({", look {}", "，第 {} 次查看"}, f.looks.size());
  if (f.seeds.nonfinite > 0) add({", {} not finite", ", {} 个非有限值"}, f.seeds.nonfinite);
  return text;
}

struct OutcomeWords {
  const char* outcomes[5];  // in the order of PartOutcome
  const char* doubts[6];    // in the order of Doubt: what the seeds show, and what would mend it
  const char *far_bound, *skewed, *normal, *log_normal, *wanted, *left_out, *needed;
};
constexpr OutcomeWords english = {
    {"holds", "does not hold", "is open: too few seeds", "is open: the machine was busy", "is not judged: "},
    {"", "most seeds have one value (every_seed is the rule for it)",
     "the seeds lie in clusters (another statistic, or more seeds)",
     "the seeds are skewed (log = true, another statistic, or more seeds)",
     "a seed is infinite (every_seed, or another statistic)",
     "a seed that is not positive has no logarithm (log = false, or another statistic)"},
    ", the bound being far from all seeds",
    ", by the interval for skewed seeds",
    ", assuming normal values",
    ", assuming log-normal values",
    "wanted",
    "left out",
    ", about {} seeds would settle it"};
constexpr OutcomeWords chinese = {
    {"成立", "不成立", "未定：种子数不足", "未定：机器繁忙", "未作判定："},
    {"", "多数种子取同一个值（应使用规则 every_seed）", "各种子的值成簇（换一个统计量，或增加种子）",
     "各种子的值偏斜（设 log = true，换一个统计量，或增加种子）",
     "有种子的值为无穷（使用 every_seed，或换一个统计量）",
     "有种子的值非正，没有对数（设 log = false，或换一个统计量）"},
    "，界限远离全部种子",
    "，按偏斜种子的区间",
    "，假定值服从正态分布",
    "，假定值服从对数正态分布",
    "要求",
    "未涉及",
    "，约需 {} 个种子"};

// "holds, assuming normal values", "is not judged: the seeds are skewed (…)"
std::string outcome_text(const Finding& f, Language language) {
  const OutcomeWords& words = language == Language::en ? english : chinese;
  const Reading& reading = f.reading;
  std::string text = words.outcomes[static_cast<size_t>(reading.outcome)];
  if (reading.outcome == PartOutcome::busy) return text;
  if (reading.outcome == PartOutcome::not_normal)
    text += words.doubts[static_cast<size_t>(reading.doubt)];
  else if (reading.far_bound)
    text += words.far_bound;
  else if (reading.doubt != Doubt::none && reading.doubt != Doubt::infinite)
    text += words.skewed;
  else if (reading.assumes_normal)
    text += f.part->predicate.log ? words.log_normal : words.normal;
  return text;
}

std::string reason_of(const Finding& f, Language language) {
  const OutcomeWords& words = language == Language::en ? english : chinese;
  std::string wanted = text_of(f.part->predicate, language);
  if (f.needed > 0) wanted += fmt::format(fmt::runtime(words.needed), f.needed);
  return fmt::format("{}: {}, {} ({} {})", in(language, f.part->says), outcome_text(f, language),
                     measured_text(f, language), words.wanted, wanted);
}

std::string reason_of(const Judged& judged, Language language) {
  const Claim& claim = *judged.claim;
  std::vector<std::string> reasons, lacking;
  for (const Finding& f : judged.findings)
    if (f.not_run.empty())
      reasons.push_back(reason_of(f, language));
    else if (f.at_full_scale)
      reasons.push_back(f.not_run);
    else if (std::find(lacking.begin(), lacking.end(), f.not_run) == lacking.end())
      lacking.push_back(f.not_run);
  if (!lacking.empty()) reasons = lacking;
  for (const Passage& passage : claim.passages) reasons.push_back(in(language, passage.reading));
  if (!claim.test.empty())
    reasons.push_back(fmt::format(
        fmt::runtime(in(language, {"an identity, checked by the test “{}”", "恒等式，由测试“{}”检查"})),
        claim.test));
  const std::string note = in(language, claim.note);
  const char* left_out = (language == Language::en ? english : chinese).left_out;
  if (!note.empty()) reasons.push_back(claim.parts.empty() ? note : fmt::format("{}: {}", left_out, note));
  return fmt::format("{}", fmt::join(reasons, "; "));
}

struct Tally {
  int64_t holding = 0, failing = 0, open = 0, busy = 0, not_normal = 0, missing = 0, at_full_scale = 0;
};

Tally tally_of(const std::vector<Finding>& findings) {
  Tally tally;
  for (const Finding& f : findings)
    if (!f.not_run.empty())
      ++(f.at_full_scale ? tally.at_full_scale : tally.missing);
    else if (f.reading.outcome == PartOutcome::holds)
      ++tally.holding;
    else if (f.reading.outcome == PartOutcome::fails)
      ++tally.failing;
    else if (f.reading.outcome == PartOutcome::busy)
      ++tally.busy;
    else if (f.reading.outcome == PartOutcome::not_normal)
      ++tally.not_normal;
    else
      ++tally.open;
  return tally;
}

std::string verdict_of_parts(const Claim& claim, const Tally& t) {
  const char* refuted = claim.on_gpu ? "not borne out on this CPU"
                        : claim.may  ? "not borne out on the task tried"
                                     : "refuted";
  if (claim.one_statement && t.failing > 0) return refuted;
  if (t.missing > 0) return "not run here";
  if (t.at_full_scale > 0) return "needs the full run";
  if (t.busy > 0) return "machine too busy";
  if (t.not_normal > 0) return "rule does not hold";
  if (t.open > 0) return "too few seeds";
  if (t.holding > 0 && t.failing > 0) return "partly";
  if (claim.kind == Kind::definition) return t.failing == 0 ? "by definition" : refuted;
  if (t.holding == 0) return refuted;
  return claim.note.en.empty() ? "confirmed" : "partly";
}

std::string verdict_of_passages(const Claim& claim) {
  const auto holding =
      std::count_if(claim.passages.begin(), claim.passages.end(), [](const Passage& p) { return p.holds(); });
  const bool all = holding == std::ssize(claim.passages);
  if (all && claim.note.en.empty()) return "true by its source";
  return holding == 0 || (claim.one_statement && !all) ? "false by its source" : "partly by its source";
}

const char* word_of(Rule rule) {
  constexpr const char* words[] = {"every_seed", "mean", "one_more_seed", "time"};
  return words[static_cast<size_t>(rule)];
}
const char* word_of(Bearing bearing) {
  constexpr const char* words[] = {"bears_out", "contradicts", "lacks"};
  return words[static_cast<size_t>(bearing)];
}

// The value that stands for the seeds: the mean, of logarithms where the rule takes them, or the median.
double middle_of(const Finding& f) {
  const Predicate& predicate = f.part->predicate;
  if (f.seeds.n == 0) return nan;
  if (predicate.rule == Rule::every_seed) return f.seeds.median;
  const bool log = predicate.log && std::isfinite(f.seeds.logarithm.mean);
  const double mean = f.seeds.moments(log).mean;
  return log ? std::exp(mean) : mean;
}

void set(Json& json, const std::string& name, const Phrase& phrase) {
  json[name] = phrase.en;
  json[name + "_zh"] = phrase.zh;
}

Json to_json(const Finding& f) {
  const Part& part = *f.part;
  const Predicate& asked = part.predicate;
  const bool printed = asked.rule == Rule::one_more_seed, made = f.not_run.empty();
  const auto if_made = [&](std::string (*text)(const Finding&, Language)) {
    return made ? in_both([&](Language language) { return text(f, language); }) : Phrase();
  };
  Json json;
  set(json, "says", part.says);
  json.update({{"run", part.run}, {"key", part.key}, {"corpus", f.corpus}});
  set(json, "trained_on", f.trained);
  json["printed"] = printed ? Json(asked.low) : Json();
  set(json, "measured", if_made(measured_text));
  json.update({{"value", made ? number_or_null(middle_of(f)) : Json()},
               {"interval", made ? Json({f.reading.interval.low, f.reading.interval.high}) : Json()},
               {"n", f.reading.n},
               {"looks", f.looks},
               {"nonfinite", f.seeds.nonfinite},
               {"theory", number_or_null(f.theory)},
               {"rule", word_of(asked.rule)},
               {"log", asked.log},
               {"bounds", {number_or_null(bound_shown(asked.low)), number_or_null(bound_shown(asked.high))}},
               {"full_only", part.full_only}});
  set(json, "wanted", in_both([&](Language language) { return text_of(asked, language); }));
  json["word"] = part.word;
  set(json, "why", part.why);
  json["outcome"] = made ? word_of(f.reading.outcome) : "";
  set(json, "outcome_text", if_made(outcome_text));
  json.update({{"seeds_needed", f.needed}, {"not_run", f.not_run}});
  return json;
}

Json to_json(const Passage& passage) {
  Json json = {{"title", passage.title},  {"address", passage.address}, {"read", passage.read},
               {"quote", passage.quote},  {"words", passage.words},     {"bearing", word_of(passage.bearing)},
               {"holds", passage.holds()}};
  set(json, "reading", passage.reading);
  return json;
}

}  // namespace

const char* word_of(PartOutcome outcome) {
  constexpr const char* words[] = {"holds", "does not hold", "too few seeds", "machine too busy",
                                   "rule does not hold"};
  return words[static_cast<size_t>(outcome)];
}

std::string value_text(const Finding& f) {
  if (f.seeds.n == 0) return "not finite";
  std::string text = exact_number_text(middle_of(f));
  if (f.seeds.min != f.seeds.max) text += " " + range_text(f.reading.interval);
  return text;
}

Phrase trained_on(const Judged& judged) {
  Phrase all;
  const auto add = [](std::string& list, const std::string& text, const char* between) {
    if (!text.empty() && list.find(text) == std::string::npos) list += (list.empty() ? "" : between) + text;
  };
  for (const Finding& finding : judged.findings) {
    add(all.en, finding.trained.en, "; ");
    add(all.zh, finding.trained.zh, "；");
  }
  return all;
}

std::string parts_table(const Judged& judged) {
  Table table({"part", "measured", "theory", "asked", "outcome"});
  bool assumes = false;
  for (const Finding& part : judged.findings) {
    const bool made = part.not_run.empty(), few = made && part.reading.assumes_normal;
    assumes |= few;
    table.row({part.part->says.en, made ? measured_text(part, Language::en) : "", number_or_dash(part.theory),
               text_of(part.part->predicate),
               few    ? word_of(part.reading.outcome)
               : made ? outcome_text(part, Language::en)
                      : part.not_run});
  }
  std::string text = table.text();
  if (assumes)
    text += fmt::format("Fewer than {} seeds: assuming normal values, or with log = true log-normal ones.\n",
                        seeds_that_show_shape);
  if (const std::string trained = trained_on(judged).en; !trained.empty())
    text += fmt::format("Trained: {}.\n", trained);
  return text;
}

Judged judge(const Claim& claim, const Runs& runs) {
  Judged judged{&claim};
  for (const Part& part : claim.parts) judged.findings.push_back(find(part, runs, std::ssize(claim.parts)));
  if (claim.kind == Kind::cited) judged.verdict = "cited, not checked";
  if (claim.kind == Kind::not_run) judged.verdict = "not run here";
  if (claim.kind == Kind::source) judged.verdict = verdict_of_passages(claim);
  if (judged.verdict.empty()) judged.verdict = verdict_of_parts(claim, tally_of(judged.findings));
  judged.reason = in_both([&](Language language) { return reason_of(judged, language); });
  return judged;
}

Json to_json(const Judged& judged) {
  const Claim& claim = *judged.claim;
  Json json = {
      {"id", claim.id}, {"source", claim.source}, {"quote", claim.quote}, {"quote_en", claim.quote_en}};
  set(json, "claim", claim.says);
  set(json, "implied", claim.implied);
  set(json, "no_source", claim.no_source);
  set(json, "remark", claim.remark);
  json.update({{"test", claim.test}, {"verdict", judged.verdict}});
  set(json, "reason", judged.reason);
  set(json, "trained_on", trained_on(judged));
  set(json, "note", claim.note);
  for (const char* list : {"parts", "passages"}) json[list] = Json::array();
  for (const Finding& finding : judged.findings) json["parts"].push_back(to_json(finding));
  for (const Passage& passage : claim.passages) json["passages"].push_back(to_json(passage));
  return json;
}

}  // namespace isobar::claims
