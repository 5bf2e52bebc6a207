#include "verify.h"

#include <algorithm>
#include <set>

#include <fmt/ranges.h>

#include "../harness/nearest.h"
#include "../harness/table.h"
#include "judge.h"
#include "plan.h"
#include "study_runs.h"

namespace isobar::fixtures {
extern const char claims_full[];  // the verdicts of the last whole run, claims/full.json
}  // namespace isobar::fixtures

namespace isobar::claims {
namespace {

constexpr size_t shown_columns = 76;  // of a claim's words on the terminal

// Only the runs that some part needs at this scale, or the one that was asked for.
std::vector<PlannedRun> wanted_runs(const std::vector<ClaimFile>& files, const VerifyOptions& options) {
  std::vector<PlannedRun> runs = plan(files, options.scale);
  if (options.only.empty()) return runs;
  std::vector<std::string> names;
  for (const PlannedRun& planned : runs) names.push_back(planned.name);
  std::erase_if(runs, [&](const PlannedRun& planned) { return planned.name != options.only; });
  check(!runs.empty(), "--only: wanted one of {}, got '{}'{}", fmt::join(names, ", "), options.only,
        did_you_mean(options.only, names));
  return runs;
}

// A key that its run did not measure is a slip of the pen, unless it is measured at the full scale alone.
void check_keys(const std::vector<ClaimFile>& files, const PlannedRun& planned, const Json& measured,
                bool full) {
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims)
      for (const Part& part : claim.parts) {
        if (part.run != planned.name || measured.contains(part.key) || (part.full_only && !full)) continue;
        std::vector<std::string> keys;
        for (const auto& [key, value] : measured.items()) keys.push_back(key);
        throw_error(fmt::format("{}, line {}: claim {}: the run {} measured no '{}'{}", file.path, part.line,
                                claim.id, part.run, part.key, did_you_mean(part.key, keys)));
      }
}

// As many code points as fit.
std::string cut(const std::string& text, size_t columns) {
  if (display_width(text) <= columns) return text;
  std::string head;
  for (size_t i = 0, width = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80 && ++width == columns) break;
    head += text[i];
  }
  return head + "…";
}

// The verdict of the last whole run, where this one could not settle the claim of a text that comes along.
Json verdict_at_full_scale(const Judged& judged) {
  static const Json full = Json::parse(fixtures::claims_full);
  static const std::set<std::string> open = {"too few seeds", "machine too busy", "not run here"};
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

std::string line_of(const Judged& judged, const Json& full) {
  const std::string at_full = full.is_null()
                                  ? ""
                                  : fmt::format(" (full run of {}: {})", full["date"].get<std::string>(),
                                                full["verdict"].get<std::string>());
  return fmt::format("{:<5}{}{}: {}\n", judged.claim->id, judged.verdict, at_full,
                     cut(judged.claim->says, shown_columns));
}

// Claims are judged, and their lines said, as soon as the last of their runs is there.
class Judging {
 public:
  Judging(Run& run, const std::vector<ClaimFile>& files, std::vector<PlannedRun> to_make,
          const VerifyOptions& options)
      : run_(run), to_make_(std::move(to_make)), scale_(options.scale), detail_(options.detail) {
    for (const ClaimFile& file : files)
      for (const Claim& claim : file.claims) waiting_.push_back(&claim);
  }

  // After the runs before `next` were made.
  void say_those_settled(const Runs& runs, size_t next) {
    std::set<std::string> ahead;
    for (size_t i = next; i < to_make_.size(); ++i) ahead.insert(to_make_[i].name);
    std::erase_if(waiting_, [&](const Claim* claim) {
      for (const Part& part : claim->parts)
        if (ahead.contains(part.run)) return false;
      judged_.push_back(judge(*claim, runs));
      full_.push_back(verdict_at_full_scale(judged_.back()));
      run_.say_text(line_of(judged_.back(), full_.back()));
      if (detail_) say_parts(judged_.back());
      return true;
    });
  }

  void publish() {
    Csv& csv = run_.csv("claims.csv", {"id", "source", "claim", "verdict", "reason"});
    std::vector<size_t> order(judged_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return judged_[i].claim->id; });
    Json claims = Json::array();
    std::map<std::string, int64_t> counts;
    int64_t implied = 0, no_source = 0;
    for (const size_t i : order) {
      const Claim& claim = *judged_[i].claim;
      csv.row({claim.id, claim.source, claim.says, judged_[i].verdict, judged_[i].reason});
      Json row = to_json(judged_[i]);
      row["scale"] = scale_;
      row["full"] = full_[i];
      claims.push_back(std::move(row));
      ++counts[judged_[i].verdict];
      implied += !claim.implied.empty();
      no_source += !claim.no_source.empty();
    }
    run_.summary()["claims"] = std::move(claims);
    run_.say("\n");
    for (const std::string& word : verdict_words()) {
      if (counts[word] == 0) continue;
      run_.summary()["counts"][word] = counts[word];
      run_.say("{:4} {}\n", counts[word], word);
    }
    run_.summary()["implied"] = implied;
    run_.summary()["no_source"] = no_source;
    run_.say(
        "Of these {} are implied by a text and nowhere printed, and {} are ascribed to a source that does not contain them.\n",
        implied, no_source);
  }

 private:
  void say_parts(const Judged& judged) {
    for (const Finding& f : judged.findings)
      run_.say("     {}: {}, measured {}; wanted {}\n", f.part->says, standing_text(f), measured_text(f),
               text_of(f.part->predicate));
    for (const Passage& passage : judged.claim->passages) run_.say("     {}\n", passage.reading);
  }

  Run& run_;
  std::vector<PlannedRun> to_make_;
  std::string scale_;
  bool detail_;
  std::vector<const Claim*> waiting_;
  std::vector<Judged> judged_;
  std::vector<Json> full_;
};

Json sources_json(const std::vector<ClaimFile>& files) {
  Json sources = Json::array();
  for (const ClaimFile& file : files)
    sources.push_back({{"id", file.source.id},
                       {"title", file.source.title},
                       {"title_en", file.source.title_en},
                       {"author", file.source.author},
                       {"date", file.source.date},
                       {"address", file.source.address}});
  return sources;
}

}  // namespace

bool verify(Run& run, const std::vector<ClaimFile>& files, const VerifyOptions& options) {
  const std::vector<PlannedRun> planned = wanted_runs(files, options);
  std::vector<Json> configs;
  for (const PlannedRun& one : planned) configs.push_back(config_of(one, run.seed(), one.where));
  run.summary()["sources"] = sources_json(files);
  run.summary()["scale"] = options.scale;

  Runs runs;
  Judging judging(run, files, planned, options);
  Json made = Json::array();
  judging.say_those_settled(runs, 0);
  for (size_t i = 0; i < planned.size(); ++i) {
    run.say("\n{} of {}  ", i + 1, planned.size());
    auto [summary, cannot_run] = make_run(run, planned[i], configs[i]);
    made.push_back({{"name", planned[i].name},
                    {"folder", planned[i].folder},
                    {"done", !summary.is_null()},
                    {"cannot_run", cannot_run}});
    if (summary.is_object()) {
      check_keys(files, planned[i], summary.value("measured", Json::object()), options.scale == "full");
      runs.summaries[planned[i].name] = std::move(summary);
    }
    if (!cannot_run.empty()) {
      runs.missing[planned[i].name] = cannot_run;
      run.say("{}: cannot run here; its claims are not judged: {}\n", planned[i].name, cannot_run);
    }
    judging.say_those_settled(runs, i + 1);
  }
  run.summary()["runs"] = std::move(made);
  judging.publish();
  return runs.missing.empty();
}

}  // namespace isobar::claims
