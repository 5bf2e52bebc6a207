#include "judging.h"

#include <algorithm>
#include <cmath>

#include "../harness/table.h"

namespace isobar::fixtures {
extern const char claims_full[];  // the verdicts of the last full run, claims/full.json
}  // namespace isobar::fixtures

namespace isobar::claims {
namespace {

constexpr const char* to_come = "still to come";

// The verdict of the last full run, where this one could not settle the claim of one of the texts.
Json verdict_at_full_scale(const Judged& judged) {
  static const Json full = Json::parse(fixtures::claims_full);
  static const std::set<std::string> open = {"too few seeds", "rule does not hold", "machine too busy",
                                             "needs the full run", "not run here"};
  if (!open.contains(judged.verdict) || judged.claim->kind == Kind::not_run) return {};
  const bool builtin = std::ranges::any_of(builtin_table(), [&](const Claim* claim) {
    return claim->id == judged.claim->id && claim->quote == judged.claim->quote;
  });
  if (!builtin || !full["claims"].contains(judged.claim->id)) return {};
  Json verdict = full["claims"][judged.claim->id];
  verdict.erase("parts");
  verdict["date"] = full["date"];
  return verdict;
}

std::string verdict_text(const Judged& judged, const Json& full) {
  if (full.is_null()) return judged.verdict;
  return fmt::format("{} (full run of {}: {})", judged.verdict, full["date"].get<std::string>(),
                     full["verdict"].get<std::string>());
}

// The part that shows why the verdict is what it is: the first that does not hold, else the first left open, else the
// first.
const Finding* deciding_part(const Judged& judged) {
  for (const PartOutcome outcome :
       {PartOutcome::fails, PartOutcome::not_normal, PartOutcome::too_few_seeds, PartOutcome::busy}) {
    const auto found = std::ranges::find_if(judged.findings, [&](const Finding& finding) {
      return finding.not_run.empty() && finding.reading.outcome == outcome;
    });
    if (found != judged.findings.end()) return &*found;
  }
  return judged.findings.empty() ? nullptr : &judged.findings.front();
}

// A claim's line, with the part that decides.
void add_claim(Table& table, const Judged& judged, const std::string& verdict) {
  const Finding* part = deciding_part(judged);
  const bool made = part != nullptr && part->not_run.empty();
  const std::string trained = trained_on(judged).en;
  const std::string says = judged.claim->says + (trained.empty() ? "" : fmt::format(" ({})", trained));
  table.row({judged.claim->id, says, made ? value_text(*part) : "",
             made ? text_of(part->part->predicate) : "", verdict});
}

}  // namespace

Judging::Judging(Run& run, const std::vector<ClaimFile>& files, std::string scale, bool detail)
    : run_(run), scale_(std::move(scale)), detail_(detail) {
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) rows_.push_back({.claim = &claim, .judged = {}, .full = {}});
  std::ranges::stable_sort(rows_, {}, [](const Row& row) { return row.claim->id; });
}

void Judging::settle(const Runs& runs, const std::set<std::string>& ahead, bool print_table) {
  std::vector<const Row*> settled;
  for (Row& row : rows_) {
    const auto waits = [&](const Part& part) { return ahead.contains(part.run); };
    if (row.settled || std::ranges::any_of(row.claim->parts, waits)) continue;
    row.settled = true;
    row.judged = judge(*row.claim, runs);
    row.full = verdict_at_full_scale(row.judged);
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
  using Cells = std::vector<std::string>;
  Table table(measured ? Cells{"claim", "", "measured", "asked", "verdict"} : Cells{"claim", "", "verdict"});
  for (const Row* row : rows)
    if (measured)
      add_claim(table, row->judged, verdict_text(row->judged, row->full));
    else
      table.row({row->claim->id, row->claim->says, row->judged.verdict});
  run_.say_text(table.text());
}

void Judging::print_parts(const Row& row) {
  run_.say("\n{}  {}: {}\n", row.claim->id, verdict_text(row.judged, row.full), row.claim->says);
  if (!row.judged.findings.empty()) run_.say_text(parts_table(row.judged));
  for (const Passage& passage : row.claim->passages) run_.say("{}\n", passage.reading);
}

Json Judging::claims() const {
  Json claims = Json::array();
  for (const Row& row : rows_) {
    Judged judged = row.judged;
    if (!row.settled) {
      Runs none;
      for (const Part& part : row.claim->parts) none.missing[part.run] = to_come;
      judged = judge(*row.claim, none);
      judged.verdict = to_come;
    }
    Json claim = to_json(judged);
    claim["scale"] = scale_;
    claim["full"] = row.full;
    claims.push_back(std::move(claim));
  }
  return claims;
}

Json Judging::counts() const {
  Json counts = Json::object();
  for (const std::string& word : verdict_words()) {
    const auto count = std::ranges::count_if(
        rows_, [&](const Row& row) { return row.settled && row.judged.verdict == word; });
    if (count > 0) counts[word] = count;
  }
  return counts;
}

void Judging::publish() {
  Csv& csv = run_.csv("claims.csv", {"id", "source", "claim", "verdict", "reason"});
  int64_t implied = 0, no_source = 0;
  for (const auto& [claim, settled, judged, full] : rows_) {
    csv.row({claim->id, claim->source, claim->says, judged.verdict, judged.reason});
    implied += !claim->implied.empty();
    no_source += !claim->no_source.empty();
  }
  run_.say("\n");
  for (const auto& [word, count] : run_.summary()["counts"].items())
    run_.say("{:4} {}\n", count.get<int64_t>(), word);
  run_.summary()["implied"] = implied;
  run_.summary()["no_source"] = no_source;
  if (implied > 0)
    run_.say("{} of these {} implied by a text and nowhere printed.\n", implied, implied == 1 ? "is" : "are");
  if (no_source > 0)
    run_.say("{} of these {} ascribed to a source that does not contain {}.\n", no_source,
             no_source == 1 ? "is" : "are", no_source == 1 ? "it" : "them");
}

}  // namespace isobar::claims
