#include "kept.h"

#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <set>

#include "../../data/json_text.h"
#include "../../data/shipped.h"
#include "../run/lists.h"

namespace isobar::fixtures {
extern const char claims_full[];  // claims/full.json
}  // namespace isobar::fixtures

namespace isobar::claims {
namespace {

// Nine digits: more than any rule sees.
Json short_number(const Json& number) {
  const double value = number_from(number);
  if (!std::isfinite(value)) return with_named_infinities(value);
  if (value == std::trunc(value) && std::abs(value) < 1e15) return static_cast<int64_t>(value);
  return std::stod(fmt::format("{:.9g}", value));
}

std::string flags_of(const PlannedRun& run) { return shell_line(run.arguments); }

// JSON on one line, its numbers in as few digits as read back exactly; dump() takes 17 for some.
std::string compact(const Json& json) {
  if (json.is_number_float()) return fmt::format("{}", json.get<double>());
  if (!json.is_structured()) return json.dump();
  std::vector<std::string> items;
  for (const auto& [name, item] : json.items())
    items.push_back((json.is_object() ? Json(name).dump() + ":" : "") + compact(item));
  const std::string text = fmt::format("{}", fmt::join(items, ","));
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// Settings without numbers of seeds: with more of them it is the same quantity, looked at again.
Json without_seeds(const Json& config) {
  Json rest = config;
  for (const auto& [name, value] : config.items())
    if (name.find("seeds") != std::string::npos) rest.erase(name);
  return rest;
}

// What no part asks for, and not every run has: of a time, and of a ladder's highest rung.
constexpr std::array<const char*, 3> beside_parts = {"machine.busy", "foretold.covered",
                                                     "foretold.width_over_seeds"};

// The keys that parts of the files read of this run, which has so many rungs or settings, and those beside.
std::set<std::string> keys_of(const std::string& run, size_t places, const std::vector<ClaimFile>& files) {
  std::set<std::string> keys;
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims)
      for (const Part& part : claim.parts) {
        for (std::string& key : part.keys_in(run, places)) keys.insert(std::move(key));
        if (part.run == run && part.predicate.rule == Rule::time) keys.insert(beside_parts.front());
      }
  if (places > 0) keys.insert(beside_parts.begin() + 1, beside_parts.end());
  return keys;
}

// How many rungs or settings a run has.
size_t places_in(const Json& run) {
  return run.is_object() ? std::max(run.value("rungs", Json()).size(), run.value("settings", Json()).size())
                         : 0;
}

// How many commits the tree that this program was built of has after this one; nothing where that is unknown.
std::string commits_since(const std::string& commit) {
  static std::map<std::string, std::string> known;
  const auto [place, is_new] = known.emplace(commit, "");
  if (!is_new || !std::filesystem::exists(ISOBAR_SOURCE_DIR "/.git")) return place->second;
  const Finished count =
      run_child("/usr/bin/env", {"git", "-C", ISOBAR_SOURCE_DIR, "rev-list", "--count", commit + "..HEAD"},
                Complaints::kept);
  if (count.code != 0 || count.out.empty()) return "";
  const int64_t commits = std::stoll(count.out);
  return place->second = fmt::format(", {} commit{} ago", commits, commits == 1 ? "" : "s");
}

}  // namespace

Kept::Kept(std::string_view text) {
  const Json json = parse_json<Json>(text);
  check(json.is_object() && json.contains("runs") && json.contains("values"),
        "full.json: wanted 'runs' and 'values', a line for each, as isobar verify --keep writes them");
  for (const Json& run : json["runs"]) {
    check(run.contains("trained"), "full.json: the run {} does not say on what it trained nets",
          run.value("name", ""));
    runs_[run.at("name")] = run;
  }
  for (const Json& value : json["values"]) values_[{value.at("run"), value.at("key")}] = value;
}

const Kept& Kept::shipped() {
  static const Kept kept(fixtures::claims_full);
  return kept;
}

std::string Kept::text() const {
  const auto lines = [](const auto& items) {
    std::string text;
    for (const auto& [name, line] : items) text += (text.empty() ? "" : ",\n") + compact(line);
    return text;
  };
  return "{\"runs\": [\n" + lines(runs_) + "\n],\n\"values\": [\n" + lines(values_) + "\n]}\n";
}

void Kept::take(const PlannedRun& run, const Json& summary, const std::vector<ClaimFile>& files,
                std::string_view scale) {
  const Json environment = summary.value("environment", Json::object());
  const Json timing = summary.value("timing", Json::object());
  for (const Json& expectation : summary.value("expectations", Json::array()))
    check(expectation.value("ok", false), "the run {} failed its own check '{}'", run.name,
          expectation.value("name", ""));
  check(environment.contains("commit") && timing.contains("date"),
        "the run {} tells no commit and date; make it again with this version", run.name);
  check(summary.contains("trained"),
        "the run {} does not say on what it trained nets; make it again with this version", run.name);
  const Json data = environment.value("data", Json::object());
  for (const auto& [name, xxh3] : data.items())
    check(is_shipped({name, xxh3.get<std::string>()}),
          "the run {} read a {} that does not come with Isobar; run it without ISOBAR_DATA", run.name, name);

  const Json before = this->run(run.name);
  Json seconds = before.is_null() ? Json::object() : before["seconds"];
  // The least that it took: what more it was, other programs of the machine had.
  if (scale == "full" && !before.is_null() && before["flags"] != flags_of(run)) seconds.erase("full");
  const bool both = !run.folder.ends_with(".full") && scale == "full";  // the quick run is the same one
  const double took = std::round(10 * timing.value("wall_s", 0.0)) / 10;
  for (const char* name : {"quick", "full"})
    if (name == scale || both) seconds[name] = short_number(std::min(took, seconds.value(name, took)));
  if (scale != "full") {
    if (!before.is_null()) runs_[run.name]["seconds"] = seconds;
    return;
  }
  Json line = {{"name", run.name}, {"study", run.program}, {"flags", flags_of(run)}};
  for (const char* name : {"commit", "version", "compiler", "cpu", "threads", "blas", "blas_core"})
    line[name] = environment.value(name, Json());
  line["date"] = timing["date"];
  line["config"] = summary.value("config", Json::object());
  if (summary.contains("corpus")) line["corpus"] = summary["corpus"];
  line["trained"] = summary["trained"];
  for (const Json& rung : summary.value("rungs", Json::array()))
    line["rungs"].push_back(
        {{"name", rung.at("name")}, {"log2_compute", short_number(rung.at("log2_compute"))}});
  for (const char* of_settings : {"factors", "settings"})
    if (summary.contains(of_settings)) line[of_settings] = summary[of_settings];
  line["seconds"] = seconds;

  const bool same_quantity = !before.is_null() && before["study"] == line["study"] &&
                             without_seeds(before["config"]) == without_seeds(line["config"]);
  const Json measured = summary.value("measured", Json::object());
  std::map<std::pair<std::string, std::string>, Json> values;
  for (const std::string& key : keys_of(run.name, places_in(line), files)) {
    // A rung may lack a value, as where no training of it ended: a reach says so.
    const bool of_part =
        keys_of(run.name, 0, files).contains(key) && std::ranges::count(beside_parts, key) == 0;
    if (!of_part && !measured.contains(key)) continue;
    check(measured.contains(key) && measured[key].contains("values") && !measured[key]["values"].empty(),
          "the run {} has no values of {}", run.name, key);
    std::set<int64_t> looks{std::ssize(measured[key]["values"])};
    if (const auto old = values_.find({run.name, key}); same_quantity && old != values_.end())
      for (const Json& look : old->second["looks"]) looks.insert(look.get<int64_t>());
    Json& value = values[{run.name, key}];
    value = {{"run", run.name}, {"key", key}};
    if (measured[key].contains("theory")) value["theory"] = short_number(measured[key]["theory"]);
    value["looks"] = looks;
    value["values"] = Json::array();
    for (const Json& seed : measured[key]["values"]) value["values"].push_back(short_number(seed));
  }
  std::erase_if(values_, [&](const auto& old) { return old.first.first == run.name; });
  values_.merge(values);
  runs_[run.name] = std::move(line);
}

void Kept::drop_unread(const std::vector<ClaimFile>& files) {
  std::map<std::string, std::set<std::string>> read;
  for (const PlannedRun& run : plan(files, "full"))
    read[run.name] = keys_of(run.name, places_in(this->run(run.name)), files);
  std::erase_if(runs_, [&](const auto& line) { return !read.contains(line.first); });
  std::erase_if(values_,
                [&](const auto& line) { return !read[line.first.first].contains(line.first.second); });
}

Runs Kept::runs(const std::vector<ClaimFile>& files) const {
  Runs runs;
  for (const PlannedRun& planned : plan(files, "full")) {
    const Json line = run(planned.name);
    if (line.is_null() || line["study"] != planned.program || line["flags"] != flags_of(planned)) {
      runs.missing[planned.name] = line.is_null() ? not_kept : "it is kept with other settings";
      continue;
    }
    runs.summaries[planned.name] = {{"program", line["study"]},
                                    {"config", line["config"]},
                                    {"corpus", line.value("corpus", "")},
                                    {"trained", line.at("trained")},
                                    {"rungs", line.value("rungs", Json::array())},
                                    {"factors", line.value("factors", Json::array())},
                                    {"settings", line.value("settings", Json::array())},
                                    {"seconds", line["seconds"].value("full", 0.0)},
                                    {"measured", Json::object()}};
  }
  for (const auto& [place, value] : values_) {
    const auto& [name, key] = place;
    const auto summary = runs.summaries.find(name);
    if (summary == runs.summaries.end()) continue;
    Json measured = to_json(spread_from(value));
    if (value.contains("theory")) measured["theory"] = value["theory"];
    summary->second["measured"][key] = std::move(measured);
    runs.looks[place] = value["looks"].get<std::vector<int64_t>>();
  }
  return runs;
}

Json Kept::run(const std::string& name) const {
  const auto found = runs_.find(name);
  return found == runs_.end() ? Json() : found->second;
}

std::map<std::string, double> Kept::seconds(const std::string& scale) const {
  std::map<std::string, double> seconds;
  for (const auto& [name, run] : runs_)
    if (run["seconds"].contains(scale)) seconds[name] = run["seconds"][scale];
  return seconds;
}

Judged judge_kept(const Claim& claim, const Runs& kept) {
  Judged judged = judge(claim, kept);
  if (std::ranges::any_of(judged.findings, [](const Finding& part) { return !part.not_run.empty(); }))
    judged.verdict = not_kept, judged.detail = {};
  return judged;
}

std::string source_tree() { return ISOBAR_SOURCE_DIR; }

std::string kept_at(const std::vector<const Claim*>& claims, const Kept& kept, bool ago) {
  std::set<std::pair<std::string, std::string>> places;  // date and commit
  for (const Claim* claim : claims)
    for (const Part& part : claim->parts)
      for (const std::string& name : {part.run, part.reach_run})
        if (const Json run = kept.run(name); !run.is_null()) places.emplace(run["date"], run["commit"]);
  std::vector<std::string> texts;
  for (const auto& [date, commit] : places)
    texts.push_back(fmt::format("{}, {}{}", commit, date, ago ? commits_since(commit) : ""));
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace isobar::claims
