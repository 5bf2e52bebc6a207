#include "results.h"

#include "../run/table.h"
#include "kept.h"

namespace isobar::claims {
namespace {

constexpr const char* to_come = "still to come";

const Claim* builtin(const Claim& claim) {
  const std::vector<const Claim*> table = builtin_table();
  const auto found = std::ranges::find_if(
      table, [&](const Claim* one) { return one->id == claim.id && one->quote == claim.quote; });
  return found == table.end() ? nullptr : *found;
}

// What the kept values say of the claim of one of the texts that this run did not settle: the verdict, where it was
// measured, and in "parts" those that were not run here, null for the others. Null where they say nothing more.
Json kept_verdict(const Judged& judged) {
  static const Runs runs = Kept::shipped().runs(builtin_claims());
  const std::string& word = judged.verdict;
  const bool mistaken = std::ranges::any_of(judged.findings, &Finding::mistaken);
  if ((word != "open" && word != "not tested" && word != to_come) || judged.findings.empty() || mistaken)
    return {};
  const Claim* claim = builtin(*judged.claim);
  if (claim == nullptr) return {};
  const Judged kept = judge_kept(*claim, runs);
  if (kept.verdict == not_kept) return {};
  const Json all = to_json(kept);
  Json json = {{"at", kept_at({claim}, Kept::shipped())}, {"parts", all["parts"]}};
  for (const char* field : {"verdict", "detail", "detail_zh", "reason", "reason_zh", "how", "where",
                            "trained_on", "trained_on_zh", "reach", "reach_zh"})
    json[field] = all.value(field, "");
  bool fills = false;
  for (size_t i = 0; i < judged.findings.size(); ++i) {
    const bool missing = !judged.findings[i].not_run.empty();
    if (!missing) json["parts"][i] = Json();
    fills |= missing;
  }
  return kept.verdict == word && !fills ? Json() : json;
}

std::string verdict_text(const Judged& judged, const Json& kept) {
  if (kept.is_null() || kept["verdict"] == judged.verdict) return verdict_text(judged);
  return fmt::format("{} (kept: {})", verdict_text(judged), kept["verdict"].get<std::string>());
}

// The verdict with the size of the nets that it is of: "false, at 4 blocks of width 64, …; the text's size: …".
std::string sized(const std::string& verdict, const Judged& judged) {
  const std::string trained = trained_on(judged).en;
  return trained.empty() ? verdict : verdict + ", at " + trained;
}

// The one bound that a reader would compare the value with: of two the nearer.
Csv::Cell bound_cell(const Json& part) {
  const double low = number_from(part["bounds"][0]), high = number_from(part["bounds"][1]),
               value = number_from(part["value"]);
  if (std::isnan(low) && std::isnan(high)) return std::string();
  if (std::isnan(low) || std::isnan(high)) return std::isnan(low) ? high : low;
  return std::abs(value - low) < std::abs(value - high) ? low : high;
}

Csv::Cell number_cell(const Json& json) {
  const double value = number_from(json);
  return std::isnan(value) ? Csv::Cell(std::string()) : Csv::Cell(value);
}

// A claim has a row of its own, and then one for each part.
void write_rows(Csv& csv, const Json& claim) {
  const auto text = [](const Json& of, const char* field) { return of.value(field, ""); };
  const auto row = [&](const std::string& part, const std::string& outcome,
                       const std::vector<Csv::Cell>& numbers) {
    std::vector<Csv::Cell> cells;
    for (const char* field :
         {"id", "source", "claim", "verdict", "detail", "how", "where", "reach", "reason"})
      cells.emplace_back(text(claim, field));
    cells.emplace_back(part);
    cells.emplace_back(outcome);
    cells.insert(cells.end(), numbers.begin(), numbers.end());
    csv.row(cells);
  };
  row("", "", std::vector<Csv::Cell>(7, std::string()));
  for (const Json& part : claim.value("parts", Json::array())) {
    const bool made = part["interval"].is_array();
    const Csv::Cell none = std::string();
    row(text(part, "says"), text(part, "outcome"),
        {number_cell(part["value"]), made ? number_cell(part["interval"][0]) : none,
         made ? number_cell(part["interval"][1]) : none, bound_cell(part), part.value("n", int64_t{0}),
         number_cell(part["bounds"][0]), number_cell(part["bounds"][1])});
  }
}

// A claim's line, with the part that decides.
void add_claim(Table& table, const Judged& judged, const std::string& verdict) {
  const Finding* part = deciding_part(judged);
  const bool made = part != nullptr && part->not_run.empty();
  std::string reach;
  for (const ReachFinding& found : part != nullptr ? part->reaches : std::vector<ReachFinding>())
    if (found.none.en.empty()) reach += "; " + text_of(found).en;
  table.row({judged.claim->id, says_text(judged), made ? value_text(*part) : "",
             made ? text_of(part->part->predicate).en : "", verdict + reach});
}

bool is_of_run(const Claim& claim, const std::string& name) {
  return !claim.parts.empty() && std::ranges::count(claim.parts, name, &Part::run) == std::ssize(claim.parts);
}

}  // namespace

const Finding* deciding_part(const Judged& judged) {
  using enum PartOutcome;
  std::vector<PartOutcome> order = {depends, fails, not_normal, too_few_seeds, busy};
  // A single statement is false by a part that shows no difference, whatever its open parts will be.
  if (judged.verdict == "false") order = {fails, equal, depends, not_normal, too_few_seeds, busy};
  // Beside a part that is open, one that fails does not decide.
  if (judged.verdict == "open") order = {not_normal, too_few_seeds, busy, fails};
  for (const PartOutcome outcome : order) {
    const auto found = std::ranges::find_if(judged.findings, [&](const Finding& finding) {
      return finding.counts && finding.not_run.empty() && finding.reading.outcome == outcome;
    });
    if (found != judged.findings.end()) return &*found;
  }
  const auto counted = std::ranges::find(judged.findings, true, &Finding::counts);
  if (counted != judged.findings.end()) return &*counted;
  return judged.findings.empty() ? nullptr : &judged.findings.front();
}

std::string says_text(const Judged& judged) {
  const std::string trained = trained_on(judged).en;
  return judged.claim->says.en + (trained.empty() ? "" : fmt::format(" ({})", trained));
}

Judging::Judging(Run& run, const std::vector<ClaimFile>& files, std::string scale, bool detail, Json earlier)
    : run_(run), scale_(std::move(scale)), detail_(detail), earlier_(std::move(earlier)) {
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) rows_.push_back({.claim = &claim, .judged = {}, .kept = {}});
  std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.claim->id; });
}

void Judging::settle(const Runs& runs, const std::set<std::string>& ahead, bool print_table) {
  std::vector<const Row*> settled;
  for (Row& row : rows_) {
    const auto waits = [&](const Part& part) {
      return ahead.contains(part.run) || ahead.contains(part.reach_run);
    };
    if (row.settled || std::ranges::any_of(row.claim->parts, waits)) continue;
    row.settled = true;
    row.judged = judge(*row.claim, runs);
    row.kept = kept_verdict(row.judged);
    settled.push_back(&row);
  }
  if (print_table && !settled.empty()) print(settled);
}

void Judging::print(const std::vector<const Row*>& rows) {
  if (detail_) {
    for (const Row* row : rows) print_parts(*row);
    return;
  }
  const bool measured =
      std::ranges::any_of(rows, [](const Row* row) { return !row->judged.findings.empty(); });
  Table table = measured ? Table({"id", "claim", "measured", "asked", "verdict"}, "llrll")
                         : Table({"id", "claim", "verdict"}, "lll");
  for (const Row* row : rows)
    if (measured)
      add_claim(table, row->judged, verdict_text(row->judged, row->kept));
    else
      table.row({row->claim->id, row->claim->says.en, verdict_text(row->judged)});
  run_.say_text(table.text());
}

void Judging::print_parts(const Row& row) {
  const bool mistaken = std::ranges::any_of(row.judged.findings, &Finding::mistaken);
  if (mistaken)
    return run_.say("\n{}  {}: {}\n", row.claim->id, verdict_text(row.judged), row.judged.reason.en);
  run_.say("\n{}  {}: {}\n", row.claim->id, sized(verdict_text(row.judged, row.kept), row.judged),
           row.claim->says.en);
  if (!row.judged.findings.empty()) run_.say_text(parts_table(row.judged));
  for (const Passage& passage : row.claim->passages) run_.say("{}\n", passage.reading.en);
}

Json Judging::claims() const {
  Json claims = Json::array();
  for (const Row& row : rows_) {
    Judged judged = row.judged;
    if (!row.settled) {
      Runs none;
      for (const Part& part : row.claim->parts)
        none.missing[part.run] = none.missing[part.reach_run] = to_come;
      judged = judge(*row.claim, none);
      judged.verdict = to_come, judged.detail = {};
    }
    Json claim = to_json(judged);
    claim["scale"] = scale_;
    claim["kept"] = row.settled ? row.kept : kept_verdict(judged);
    claims.push_back(std::move(claim));
  }
  for (const Json& claim : earlier_) claims.push_back(claim);
  std::stable_sort(claims.begin(), claims.end(),
                   [](const Json& a, const Json& b) { return a.value("id", "") < b.value("id", ""); });
  return claims;
}

Json Judging::counts() const {
  std::map<std::string, int64_t> of;
  for (const Row& row : rows_)
    if (row.settled) ++of[row.judged.verdict];
  for (const Json& claim : earlier_) ++of[claim.value("verdict", "")];
  Json counts = Json::object();
  for (const std::string& word : verdict_words)
    if (of[word] > 0) counts[word] = of[word];
  return counts;
}

void Judging::publish() {
  Csv& csv = run_.csv(
      "claims.csv", {"id", "source", "claim", "verdict", "detail", "how", "where", "reach", "reason", "part",
                     "outcome", "value", "low", "high", "bound", "seeds", "at_least", "at_most"});
  int64_t implied = 0, no_source = 0;
  for (const Json& claim : claims()) write_rows(csv, claim);
  for (const Row& row : rows_) {
    implied += !row.claim->implied.en.empty();
    no_source += !row.claim->no_source.en.empty();
  }
  run_.say("\n");
  std::map<std::string, int64_t> all, of_kept;  // by verdict; the kept one where this run came to none
  for (const Json& claim : claims()) {
    const Json kept = claim.value("kept", Json());
    const std::string word = (kept.is_null() ? claim : kept).value("verdict", "");
    ++all[word];
    if (!kept.is_null()) ++of_kept[word];
  }
  for (const std::string& word : verdict_words)
    if (all[word] > 0)
      run_.say("{:4} {}{}\n", all[word], word,
               of_kept[word] > 0 ? fmt::format(" ({} kept)", of_kept[word]) : "");
  std::vector<const Claim*> shown;
  for (const Row& row : rows_)
    if (!row.kept.is_null()) shown.push_back(builtin(*row.claim));
  if (!shown.empty()) run_.say("kept: measured at the full scale at {}\n", kept_at(shown, Kept::shipped()));
  run_.summary()["implied"] = implied;
  run_.summary()["no_source"] = no_source;
  if (implied > 0)
    run_.say("{} of these {} implied by a text and nowhere printed.\n", implied, implied == 1 ? "is" : "are");
  if (no_source > 0)
    run_.say("{} of these {} ascribed to a source that does not contain {}.\n", no_source,
             no_source == 1 ? "is" : "are", no_source == 1 ? "it" : "them");
}

void say_verdicts(Run& run, const std::string& name) {
  Runs runs;
  runs.summaries[name] = run.summary();
  runs.kept = Kept::shipped().runs(builtin_claims()).summaries;
  bool first = true;
  for (const Claim* claim : builtin_table()) {
    if (!is_of_run(*claim, name)) continue;
    if (first) run.say("\nClaims about this run. In brackets: the interval that decides the part.\n");
    first = false;
    const Judged judged = judge(*claim, runs);
    run.say("\nClaim {} of source {}: {}\nVerdict: {}\n{}", claim->id, claim->source, claim->says.en,
            sized(verdict_text(judged), judged), parts_table(judged));
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
