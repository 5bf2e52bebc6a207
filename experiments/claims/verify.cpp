#include "verify.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/ranges.h>

#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../run/lists.h"
#include "../run/table.h"
#include "kept.h"
#include "results.h"

namespace isobar::claims {
namespace {

// "D06" as a user may write it: "d06", " D06", or "003 D06" as the README has it.
std::string id_of(std::string word, const std::vector<std::string>& known) {
  word.erase(word.find_last_not_of(' ') + 1);
  word.erase(0, word.rfind(' ') + 1);
  if (std::ranges::find(known, word) == known.end())
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::toupper(c); });
  return word;
}

// Leaves the claims of these ids alone in the files; the id of a text stands for all of its claims.
void keep_claims(std::vector<ClaimFile>& files, const std::vector<std::string>& words) {
  std::vector<std::string> known, ids;
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims) known.push_back(claim.id);
  for (const std::string& word : words) {
    const auto text = std::ranges::find(files, word, [](const ClaimFile& file) { return file.source.id; });
    if (text == files.end())
      ids.push_back(id_of(word, known));
    else
      for (const Claim& claim : text->claims) ids.push_back(claim.id);
  }
  for (const std::string& id : ids)
    check(std::ranges::find(known, id) != known.end(),
          "--claim: wanted one of the {} claims {} to {}, got '{}'{}", known.size(),
          *std::ranges::min_element(known), *std::ranges::max_element(known), id, did_you_mean(id, known));
  for (ClaimFile& file : files)
    std::erase_if(file.claims,
                  [&](const Claim& claim) { return std::ranges::find(ids, claim.id) == ids.end(); });
}

// The studies of the user's folder replace ours of the same name.
void take_programs(std::vector<PlannedRun>& runs, const std::string& folder) {
  if (folder.empty() || runs.empty()) return;
  bool any = false;
  for (PlannedRun& planned : runs) {
    const std::string path = folder + "/" + planned.program;
    if (!std::filesystem::is_regular_file(path)) continue;
    planned.path = path;
    any = true;
  }
  check(any,
        "--programs: {0} has no program {1}, nor another study that these claims need; build it there first, "
        "with add_executable({1} my_norms.cpp) and target_link_libraries({1} PRIVATE isobar::{1}) "
        "(nn/layers.md)",
        folder, runs.front().program);
}

// Only the runs that some part needs at this scale, or the one that was asked for.
std::vector<PlannedRun> wanted_runs(const std::vector<ClaimFile>& files, const VerifyOptions& options) {
  std::vector<PlannedRun> runs = plan(files, options.scale);
  std::set<std::string> needed;
  const bool full = options.scale == "full";
  for (const ClaimFile& file : files)
    for (const Claim& claim : file.claims)
      for (const Part& part : claim.parts) {
        // A ladder takes hours, so it is made on demand alone. Whose own file reads one directly demands it.
        const auto demanded = [&](const std::string& ladder) {
          return full && (options.ladder || options.only == ladder);
        };
        if (!part.reach.empty() && demanded(part.reach_run)) needed.insert(part.reach_run);
        if (part.of_ladder ? demanded(part.run) || (full && !file.shipped) : full || !part.full_only)
          needed.insert(part.run);
      }
  std::erase_if(runs, [&](const PlannedRun& planned) { return !needed.contains(planned.name); });
  if (options.only.empty()) return runs;
  std::vector<std::string> names;
  for (const PlannedRun& planned : runs) names.push_back(planned.name);
  std::erase_if(runs, [&](const PlannedRun& planned) { return planned.name != options.only; });
  check(!runs.empty(), "--only: {}", not_one_of(names, options.only));
  return runs;
}

std::vector<std::string> keys_of(const Json& measured) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : measured.items()) keys.push_back(key);
  return keys;
}

// The last word of a key: "accuracy" of "pre.default.rmsnorm.depth100.accuracy".
std::string end_of(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// What the files get wrong, part by part.
class Mistakes {
 public:
  Mistakes(const std::vector<ClaimFile>& files, Runs& runs, bool full)
      : files_(files), of_parts_(runs.mistakes), full_(full) {}

  // All parts that read a run whose settings the study refuses.
  void add_run(const std::string& run, const std::string& complaint) {
    each(run, [&](const ClaimFile&, const Claim&, const Part&) { return complaint; });
  }
  // Those whose key is not among the measured values, nor ends as one of these does: "accuracy".
  void add_keys(const std::string& run, const Json& measured, const std::set<std::string>& ends = {}) {
    const std::vector<std::string> keys = keys_of(measured);
    each(run, [&](const ClaimFile& file, const Claim& claim, const Part& part) -> std::string {
      for (const std::string& key : part.keys_in(run, 1))
        if (!measured.contains(key) && !ends.contains(end_of(key)))
          return fmt::format("{}, line {}: claim {}: the run {} measured no '{}'{}", file.path, part.line,
                             claim.id, run, key, did_you_mean(key, keys));
      return "";
    });
  }
  // Those whose claim does not say how large the nets of its text are, though the value is of trained nets; all of them
  // where the run does not say what it trained.
  void add_sizes(const std::string& run, const Json& summary) {
    each(run, [&](const ClaimFile& file, const Claim& claim, const Part& part) -> std::string {
      const std::string place = fmt::format("{}, line {}: claim {}", file.path, claim.line, claim.id);
      if (!summary.contains("trained"))
        return fmt::format(
            "{}: its run '{}' does not say on what it trained nets; make it anew with programs of this version",
            place, run);
      const bool trained = std::ranges::any_of(
          part.keys_in(run, 1), [&](const std::string& key) { return !trained_on(summary, key).en.empty(); });
      if (!trained || !claim.paper_size.en.empty()) return "";
      return fmt::format(
          "{}: has no paper_size, and its run '{}' trains nets; add how large those of the text are, such as "
          "paper_size = \"12 × 768, 300,000 steps\", or \"not stated\"; in [source] it is that of all claims",
          place, run);
    });
  }
  // Whether a claim without a mistake needs the run.
  bool need(const std::string& run) const {
    return std::ranges::any_of(files_, [&](const ClaimFile& file) {
      return std::ranges::any_of(file.claims, [&](const Claim& claim) {
        return std::ranges::any_of(claim.parts, [&](const Part& part) { return part.reads(run); }) &&
               std::ranges::none_of(claim.parts, [&](const Part& part) { return of_parts_.contains(&part); });
      });
    });
  }
  const std::vector<std::string>& all() const { return all_; }

 private:
  // Parts of the full scale are read there alone.
  template <class F>
  void each(const std::string& run, F complaint_of) {
    for (const ClaimFile& file : files_)
      for (const Claim& claim : file.claims)
        for (const Part& part : claim.parts) {
          if (!part.reads(run) || (part.full_only && !full_)) continue;
          const std::string complaint = complaint_of(file, claim, part);
          if (complaint.empty() || !of_parts_.emplace(&part, complaint).second) continue;
          if (std::ranges::count(all_, complaint) == 0) all_.push_back(complaint);
        }
  }

  const std::vector<ClaimFile>& files_;
  std::map<const Part*, std::string>& of_parts_;
  bool full_;
  std::vector<std::string> all_;
};

// How the keys of a run may end. Which keys it has, its results decide: the best of several rates, say.
std::set<std::string> ends_of_keys(const Json& rehearsed, const PlannedRun& planned) {
  std::set<std::string> ends;
  for (const std::vector<std::string>& keys : {keys_of(rehearsed), kept_keys(planned)})
    for (const std::string& key : keys) ends.insert(end_of(key));
  return ends;
}

Json to_json(const ClaimFile& file) {
  const auto& [id, title, title_en, author, date, address, registered, items] = file.source;
  return {{"id", id},
          {"title", title},
          {"title_en", title_en},
          {"author", author},
          {"date", date},
          {"address", address},
          {"registered", registered},
          {"file", file.shipped ? "" : file.path}};
}

// What an earlier verify wrote into this folder: its summary; null where there is none.
Json earlier_summary(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  if (!std::filesystem::exists(path)) return {};
  Json summary = parse_json<Json>(read_regular_file(path, size_t{1} << 30));
  try {
    for (Json& claim : summary["claims"]) {
      use_todays_words(claim);
      for (const Json& part : claim.value("parts", Json::array()))
        part.value("looks", Json::array()).get<std::vector<int64_t>>();
    }
  } catch (const Json::exception& error) {
    throw_error(fmt::format(
        "--out: '{}' is not as verify writes it: {}; choose another folder, or move the file away", path,
        json_complaint(error.what())));
  }
  return summary;
}

// The looks that it took, by run and key.
std::map<std::pair<std::string, std::string>, std::vector<int64_t>> looks_of(const Json& summary) {
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> looks;
  if (summary.is_null()) return looks;
  for (const Json& claim : summary["claims"])
    for (const Json& part : claim.value("parts", Json::array()))
      if (part.contains("looks"))
        looks[{part.value("run", ""), part.value("key", "")}] = part["looks"].get<std::vector<int64_t>>();
  return looks;
}

// Its entries of this list whose field is not among `now`.
Json others(const Json& summary, const char* list, const char* field, const std::set<std::string>& now) {
  Json kept = Json::array();
  if (summary.is_null()) return kept;
  for (const Json& one : summary.value(list, Json::array()))
    if (!now.contains(one.value(field, ""))) kept.push_back(one);
  return kept;
}

// "study 4 of 12, about 5 min to go"
std::string place_text(size_t i, size_t count, double seconds_left) {
  const std::string left = std::isnan(seconds_left) ? "" : ", " + rough_time(seconds_left) + " to go";
  return fmt::format("study {} of {}{}", i + 1, count, left);
}

}  // namespace

Verified verify(Run& run, std::vector<ClaimFile> files, const VerifyOptions& options) {
  if (!options.claims.empty()) keep_claims(files, options.claims);
  Pace pace = Pace::of_texts(options.scale);
  std::vector<PlannedRun> planned;
  if (!options.kept) planned = wanted_runs(files, options);
  take_programs(planned, options.programs);
  // The short ones first: most verdicts are there soon. Of what was never made nothing is known.
  std::ranges::stable_sort(planned, {}, [&](const PlannedRun& one) {
    const double seconds = pace.seconds({one.name});
    return std::isnan(seconds) ? infinity : seconds;
  });
  Runs runs;
  Mistakes mistakes(files, runs, options.scale == "full");
  std::map<std::string, Json> configs;  // by the run's name
  for (const PlannedRun& one : planned) {
    try {
      configs[one.name] = config_of(one, run.seed(), one.where);
    } catch (const Error& error) {
      if (one.shipped) throw;
      mistakes.add_run(one.name, error.what());
    }
  }
  const auto unneeded = [&](const std::string& name) { return !mistakes.need(name); };
  std::erase_if(planned, [&](const PlannedRun& one) { return unneeded(one.name); });
  std::vector<std::string> to_make;  // the names of the runs that are not there yet
  for (const PlannedRun& one : planned)
    if (!is_made(run, one, configs[one.name])) to_make.push_back(one.name);
  for (const PlannedRun& one : planned) {
    if (one.shipped || std::ranges::count(to_make, one.name) == 0) continue;
    run.say("{}: checking its keys, by one seed and a few steps\n", one.name);
    const Json rehearsed = rehearse(run, one, configs[one.name]);
    if (!rehearsed.is_object()) continue;
    mistakes.add_keys(one.name, rehearsed["measured"], ends_of_keys(rehearsed["measured"], one));
    mistakes.add_sizes(one.name, rehearsed);
  }
  std::erase_if(planned, [&](const PlannedRun& one) { return unneeded(one.name); });
  std::erase_if(to_make, unneeded);
  Json& summary = run.summary();
  for (const ClaimFile& file : files) summary["sources"].push_back(to_json(file));
  summary["scale"] = options.scale;
  summary["runs"] = Json::array();

  // The texts' claims are judged at their last look, whoever takes it; a user's text is not among the kept.
  Runs kept;
  if (std::ranges::all_of(files, &ClaimFile::shipped)) kept = Kept::shipped().runs(files);
  const Json earlier = earlier_summary(run.folder());
  runs.looks = looks_of(earlier);
  if (options.scale == "full")
    for (const auto& [place, looks] : kept.looks)
      runs.looks[place].insert(runs.looks[place].end(), looks.begin(), looks.end());
  if (options.kept) runs = kept;
  runs.kept = std::move(kept.summaries);
  // Who asks for some claims alone keeps what the folder has of the others.
  std::set<std::string> ids, texts, names;
  for (const ClaimFile& file : files) {
    texts.insert(file.source.id);
    for (const Claim& claim : file.claims) ids.insert(claim.id);
  }
  for (const PlannedRun& one : planned) names.insert(one.name);
  Json rest = Json::array();
  if (!options.claims.empty()) {
    rest = others(earlier, "claims", "id", ids);
    for (Json& source : others(earlier, "sources", "id", texts)) summary["sources"].push_back(source);
    for (Json& one : others(earlier, "runs", "name", names)) summary["runs"].push_back(one);
  }
  Judging judging(run, files, options.scale, options.detail, std::move(rest));
  const auto settle = [&](size_t made) {
    std::set<std::string> ahead;
    for (size_t i = made; i < planned.size(); ++i) ahead.insert(planned[i].name);
    judging.settle(runs, ahead, made > 0 || options.only.empty());
    summary["claims"] = judging.claims();
    summary["counts"] = judging.counts();
    const double left = pace.seconds(to_make);
    if (made < planned.size())
      summary["progress"] = {
          {"done", made}, {"of", planned.size()}, {"seconds_left", std::isnan(left) ? Json() : Json(left)}};
    else
      summary.erase("progress");
    if (made > 0 || planned.empty()) options.renewed(summary);
  };
  settle(0);
  Verified verified;
  Limit left = limit_of_untrusted();  // to the runs of the user's files
  const Interrupt interrupt("\nasked to stop: after this study; once more to stop at once\n");
  for (size_t i = 0; i < planned.size(); ++i) {
    const PlannedRun& one = planned[i];
    run.say("\n{}  ", place_text(i, planned.size(), pace.seconds(to_make)));
    const auto start = std::chrono::steady_clock::now();
    const bool trusted = one.shipped || options.allow_large;
    auto [result, complaint, cannot_run, refused, accepted_old] =
        make_run(run, one, configs[one.name], trusted ? std::nullopt : std::optional(left));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (!trusted) left.seconds = std::max(1.0, left.seconds - passed.count());
    if (interrupt.requested())
      throw Interrupted(
          fmt::format("stopped after {} of {} studies; the same command goes on, for finished runs are kept",
                      result.is_null() ? i : i + 1, planned.size()));
    if (std::erase(to_make, one.name) > 0 && complaint.empty()) pace.made(one.name, passed.count());
    summary["runs"].push_back({{"name", one.name},
                               {"folder", one.folder},
                               {"done", !result.is_null()},
                               {"cannot_run", complaint},
                               {"config", configs[one.name]}});
    if (!one.path.empty()) summary["runs"].back()["program"] = one.path;
    if (!accepted_old.empty()) summary["runs"].back()["accepted_old"] = accepted_old;
    if (result.is_object()) {
      if (const std::string seeds = seeds_text(one, configs[one.name]); options.detail && !seeds.empty())
        run.say("{}\n", seeds);
      mistakes.add_keys(one.name, result.value("measured", Json::object()));
      mistakes.add_sizes(one.name, result);
      options.made(one, result);
      runs.summaries[one.name] = std::move(result);
    }
    if (refused) mistakes.add_run(one.name, complaint);
    if (!complaint.empty()) {
      runs.missing[one.name] = complaint;
      verified.all_here &= !cannot_run;
      run.say("{}: {}; its claims are not judged: {}\n", one.name, cannot_run ? "cannot run here" : "failed",
              complaint);
    }
    settle(i + 1);
  }
  judging.publish();
  if (options.kept) {
    std::vector<const Claim*> shown;
    for (const ClaimFile& file : files)
      for (const Claim& claim : file.claims) shown.push_back(&claim);
    run.say("measured at {}\n", kept_at(shown, Kept::shipped()));
  }
  verified.mistakes = mistakes.all();
  return verified;
}

Json kept_summary(const std::vector<ClaimFile>& files, const Kept& kept,
                  const std::map<std::string, Json>& made) {
  Runs runs = kept.runs(files);
  runs.kept = runs.summaries;
  Runs with_made = runs;
  for (const auto& [name, summary] : made) with_made.summaries[name] = summary;
  Json all = {{"claims", Json::array()}, {"sources", Json::array()}};
  for (const ClaimFile& file : files) {
    all["sources"].push_back(to_json(file));
    for (const Claim& claim : file.claims) {
      const bool here = !claim.parts.empty() && std::ranges::all_of(claim.parts, [&](const Part& part) {
        return made.contains(part.run);
      });
      const Judged judged = judge(claim, here ? with_made : runs);
      Json json = to_json(judged);
      json["scale"] = "full";
      json["kept"] = Json();
      for (size_t i = 0; i < judged.findings.size() && !here; ++i) {
        if (!judged.findings[i].not_run.empty()) continue;
        json["parts"][i]["kept"] = true;
        json["kept"] = {{"verdict", judged.verdict},
                        {"detail", json["detail"]},
                        {"detail_zh", json["detail_zh"]},
                        {"at", kept_at({&claim}, kept, false)}};
      }
      all["claims"].push_back(std::move(json));
    }
  }
  return all;
}

std::string kept_run_of(const Json& summary, const std::vector<ClaimFile>& files, const Kept& kept) {
  for (const PlannedRun& planned : plan(files, "full"))
    if (const Json line = kept.run(planned.name); !line.is_null() &&
                                                  line["study"] == summary.value("program", "") &&
                                                  line["config"] == summary.value("config", Json()))
      return planned.name;
  return "";
}

std::string job_lines(std::vector<ClaimFile> files, const VerifyOptions& options, const std::string& folder,
                      int64_t seed) {
  if (!options.claims.empty()) keep_claims(files, options.claims);
  std::vector<PlannedRun> planned = wanted_runs(files, options);
  take_programs(planned, options.programs);
  std::string lines;
  for (const PlannedRun& one : planned) {
    const std::string line = command_of(one, folder, seed, config_of(one, seed, one.where));
    if (!line.empty()) lines += line + "\n";
  }
  return lines;
}

}  // namespace isobar::claims
