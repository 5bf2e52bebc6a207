#include "page.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "../../core/error.h"
#include "../../data/file.h"
#include "../../data/json_text.h"
#include "../../data/utf8_stream.h"
#include "../claims/words.h"
#include "../run/lists.h"
#include "figures.h"
#include "live_chapter.h"
#include "norms.h"

namespace isobar::fixtures {
extern const char page[], style[], charts[], words[], elements[], formulas[], verdicts[], prose[], claims[],
    runs[], script[], found[];
}  // namespace isobar::fixtures

namespace isobar::report {
namespace {

constexpr size_t largest_summary = size_t{1} << 28;

// The template with each @name@ replaced.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& values) {
  std::string result;
  for (bool name = false;; name = !name) {
    const size_t end = std::min(text.find('@'), text.size());
    result += name ? values.at(text.substr(0, end)) : text.substr(0, end);
    if (end == text.size()) return result;
    text.remove_prefix(end + 1);
  }
}

Json environment_of(const Json& summary) {
  Json environment = summary.value("environment", Json::object());
  environment.erase("out");
  return environment;
}

// What to type to start this build's tool from here: by name where the PATH leads to it.
std::string tool_command() {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path tool = fs::read_symlink("/proc/self/exe", none).parent_path() / "isobar";
  std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::equivalent(fs::path(folder) / "isobar", tool, none)) return "isobar";
  const fs::path near = fs::proximate(tool, none);
  return near.empty() || *near.begin() == ".." ? tool.string() : near.string();
}

constexpr size_t most_points = 160, most_columns = 60, most_values = 400;

// Five digits: more than a chart can show. Whole numbers stay whole.
void round_numbers(Json& json, int digits = 5) {
  if (json.is_structured())
    for (Json& item : json) round_numbers(item, digits);
  else if (json.is_number_float() && std::isfinite(json.get<double>()))
    json = std::strtod(fmt::format("{:.{}g}", json.get<double>(), digits).c_str(), nullptr);
}

// Evenly chosen ones of a list, the first and the last among them.
Json thinned(const Json& list, size_t most) {
  Json some = Json::array();
  for (const size_t i : evenly_chosen(list.size(), most)) some.push_back(list[i]);
  return some;
}

Json shown_plot(Json plot) {
  for (Json& curve : plot["curves"]) curve["points"] = thinned(curve["points"], most_points);
  plot.emplace("key", plot.value("title", ""));
  plot.emplace("figures", Json::array());
  plot.emplace("ticks", Json::array());
  plot_of(plot);  // refuses what is none
  return plot;
}

// A field that is not there says the same.
Json without_empty(const Json& json) {
  Json kept = json;
  for (const auto& [name, value] : json.items())
    if (value.is_null() || value == "") kept.erase(name);
  return kept;
}

Json shown_heatmap(Json map) {
  for (Json& row : map["values"]) row = thinned(row, most_columns);
  map["columns"] = thinned(map["columns"], most_columns);
  return map;
}

}  // namespace

Json summary_in(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  check(std::filesystem::exists(path), "'{}' has no summary.json; name the folder of a finished run", folder);
  Json summary = parse_json<Json>(read_regular_file(path, largest_summary));
  check(summary.is_object() && summary.contains("program"),
        "'{}' is not the summary of a run; run the study again", path);
  return summary;
}

// JSON inside a script element must not end it, and no mark in it may turn the direction of the page's text.
std::string embedded(const Json& json) {
  std::string text =
      printable(with_named_infinities(json).dump(-1, ' ', false, Json::error_handler_t::replace));
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

// Adds a run under its folder's name, or the whole folder where that name is taken. Returns the name.
// `named`: by the reader, and not as a part of another run.
std::string Content::add_run(const std::string& folder, const std::string& wanted, const Json& summary,
                             bool named) {
  const bool taken =
      std::any_of(runs_.begin(), runs_.end(), [&](const Json& run) { return run["name"] == wanted; });
  const std::string name = wanted.empty() || taken ? folder : wanted;
  Json run = shown_run(summary);
  run["name"] = name;
  run["named"] = named;
  run["full"] = folder.ends_with(".full");
  const Json environment = environment_of(summary);
  if (environment_.empty()) environment_ = environment;
  for (const auto& [what, value] : environment.items())  // what all runs share is said once
    if (!environment_.contains(what) || environment_[what] != value) run["environment"][what] = value;
  runs_.push_back(std::move(run));
  if (Json stored = stored_run(summary); !stored.is_null()) {
    for (const char* drawn : {"std", "gradient"}) round_numbers(stored[drawn]);
    stored_.push_back(stored);
  }
  return name;
}

// `names`: what the runs of its parts are called on the page. Parts that were not run have the kept values.
void Content::add_claim(Json claim, const std::map<std::string, std::string>& names) {
  if (Json kept = claim.value("kept", Json()); kept.is_object() && kept.contains("parts")) {
    for (size_t i = 0; i < std::min(claim["parts"].size(), kept["parts"].size()); ++i)
      if (Json& part = kept["parts"][i]; part.is_object()) {
        part["kept"] = true;
        claim["parts"][i] = part;
      }
    for (const char* field : {"how", "where", "trained_on", "trained_on_zh", "reach", "reach_zh"}) {
      if (claim.value(field, "").empty()) claim[field] = kept.value(field, "");
      kept.erase(field);
    }
    kept.erase("parts");
    claim["kept"] = std::move(kept);
  }
  for (Json& part : claim["parts"]) {
    check(part.contains("bounds"),
          "claim {} was judged by an older version: run isobar verify again, which keeps finished runs",
          claim.value("id", ""));
    const auto shown = names.find(part.value("run", ""));
    if (shown != names.end()) part["run"] = shown->second;
  }
  claims_.push_back(std::move(claim));
}

void Content::add(const std::string& folder) { add(summary_in(folder), folder); }

void Content::add(const Json& summary, const std::string& folder) {
  const std::string name = std::filesystem::path(folder).lexically_normal().filename().string();
  const Json claims = summary.value("claims", Json::array());
  if (claims.empty())
    add_run(folder, name, summary, true);
  else if (environment_.empty())
    environment_ = environment_of(summary);
  std::map<std::string, std::string> names;
  for (const Json& run : summary.value("runs", Json::array())) {
    const std::string child = run.value("name", ""), inner = run.value("folder", child),
                      path = folder + "/" + inner;
    check(inner != ".." && inner.find('/') == std::string::npos,
          "'{}' names a run outside of its folder, '{}'; run isobar verify again", folder, inner);
    if (run.value("done", false))
      names[child] = add_run(path, child, summary_in(path), false);
    else if (!run.value("cannot_run", "").empty())
      missing_.push_back({{"name", child}, {"reason", run["cannot_run"]}});
  }
  const int64_t seed = summary.value("config", Json::object()).value("seed", int64_t{0});
  for (Json claim : claims) {
    isobar::claims::use_todays_words(claim);
    if (seed != 0) claim["seed"] = seed;
    add_claim(std::move(claim), names);
  }
  for (const Json& source : summary.value("sources", Json::array()))
    sources_[source.value("id", "")] = source;
  progress_ = summary.value("progress", Json());
}

void Content::add_kept(const Json& summary, const std::map<std::string, std::string>& names) {
  std::set<std::string> ids;
  for (const Json& claim : claims_) ids.insert(claim.value("id", ""));
  for (const Json& claim : summary.at("claims"))
    if (!ids.contains(claim.value("id", ""))) add_claim(claim, names);
  for (const Json& source : summary.at("sources"))
    if (!sources_.contains(source.value("id", ""))) sources_[source.value("id", "")] = source;
  std::stable_sort(claims_.begin(), claims_.end(),
                   [](const Json& a, const Json& b) { return a.value("id", "") < b.value("id", ""); });
}

Json Content::shipped_found() { return parse_json<Json>(fixtures::found); }

void Content::set_found(Json sentences) {
  const auto is_sentence = [](const Json& one) {
    return one.is_object() && one.value("en", Json()).is_string() && one.value("zh", Json()).is_string();
  };
  check(sentences.is_array() && std::ranges::all_of(sentences, is_sentence),
        "found.json: wanted a list of sentences, each with \"en\" and \"zh\"");
  found_ = std::move(sentences);
}

std::string Content::page(const std::string& lang, bool live) const {
  Json claims = Json::array();
  for (const Json& claim : claims_) claims.push_back(shown_claim(claim));
  charts::Markup drawn = claims_table(claims_) + norms_section(norms_);
  drawn += comparisons(runs_);
  Json runs = runs_;
  for (Json& run : runs) {
    drawn += element("h2", {}, charts::Markup(run["name"].get<std::string>()));
    drawn += figures_of(run);
    for (const char* chart : {"plots", "heatmaps", "ridges"}) run.erase(chart);
  }
  const Json data = {{"claims", claims},          {"sources", sources_},   {"runs", runs},
                     {"missing", missing_},       {"progress", progress_}, {"environment", environment_},
                     {"command", tool_command()}, {"found", found_},       {"article", article_}};
  return filled(fixtures::page, {{"lang", lang},
                                 {"style", fixtures::style},
                                 {"charts", fixtures::charts},
                                 {"drawn", drawn.text()},
                                 {"data", embedded(data)},
                                 {"words", fixtures::words},
                                 {"elements", fixtures::elements},
                                 {"formulas", fixtures::formulas},
                                 {"verdicts", fixtures::verdicts},
                                 {"prose", fixtures::prose},
                                 {"claims", fixtures::claims},
                                 {"runs", fixtures::runs},
                                 {"script", fixtures::script},
                                 {"policy", live ? live_policy : ""},
                                 {"live", live ? live_chapter(stored_) : ""}});
}

Json shown_run(const Json& summary) {
  const auto list = [&](const char* name) { return summary.value(name, Json::array()); };
  Json run = {{"program", summary["program"]},
              {"configuration", summary.value("config", Json::object())},
              {"expectations", list("expectations")},
              {"plots", Json::array()},
              {"heatmaps", Json::array()},
              {"ridges", list("ridges")}};
  for (const Json& plot : list("plots")) run["plots"].push_back(shown_plot(plot));
  for (const Json& map : list("heatmaps")) run["heatmaps"].push_back(shown_heatmap(map));
  if (summary.contains("timing")) run["seconds"] = summary["timing"].value("wall_s", 0.0);
  for (const char* name : {"sample", "val_loss", "val_loss_interval_99", "best_val_loss", "perplexity",
                           "bits_per_char", "parameters"})
    if (summary.contains(name)) run[name] = summary[name];
  if (summary.contains("answer")) {
    run["answer"] = summary["answer"];
    for (const Json& row : summary["timing"].value("costs", Json::array()))
      run["answer"]["rows"].push_back(row);
  }
  if (const Json values = summary.value("measured", Json::object());
      run["plots"].empty() && values.size() <= most_values)
    run["values"] = values;
  for (Json& value : run["values"])
    if (value.is_object()) value.erase("values");
  round_numbers(run["values"]);
  return run;
}

namespace {

// Whether the claim's own line says what the net of each part was trained on.
bool are_trained_alike(const Json& claim) {
  const std::string all = claim.value("trained_on", "");
  return std::ranges::all_of(claim["parts"], [&](const Json& part) {
    const std::string own = part.value("trained_on", "");
    return !own.empty() && (all == own || all.starts_with(own + "; the text's size"));
  });
}

}  // namespace

Json shown_claim(const Json& claim) {
  Json shown = without_empty(claim);
  for (const char* said_by_parts : {"reason", "reason_zh"}) shown.erase(said_by_parts);
  if (shown.contains("kept") && shown["kept"].is_object())
    for (const char* long_text : {"reason", "reason_zh"}) shown["kept"].erase(long_text);
  const bool alike = are_trained_alike(shown);
  for (Json& part : shown["parts"]) {
    for (const char* unread : {"measured", "measured_zh", "wanted", "wanted_zh", "looks", "log", "margin"})
      part.erase(unread);
    for (const char* count : {"nonfinite", "seeds_needed"})
      if (part.value(count, Json()) == 0) part.erase(count);
    for (const char* flag : {"of_ladder", "full_only", "control", "pooled"})
      if (part.value(flag, Json()) == false) part.erase(flag);
    if (part.value("outcome_text", "") == part.value("outcome", ""))  // the page's own word says it
      for (const char* same : {"outcome_text", "outcome_text_zh"}) part.erase(same);
    for (Json& reach : part["reaches"]) reach = {{"text", reach["text"]}, {"text_zh", reach["text_zh"]}};
    if (part["reaches"].empty()) part.erase("reaches");
    part = without_empty(part);
    // What the page computes, or shows once for all parts.
    if (part.contains("settings")) part["settings"] = true;
    // Five digits more than the page shows, so that it rounds as the tool does.
    for (const char* shown_in_four_digits : {"value", "interval", "theory"})
      if (part.contains(shown_in_four_digits)) round_numbers(part[shown_in_four_digits], 9);
    for (const char* joined : {"reach", "reach_zh"}) part.erase(joined);
    if (alike)
      for (const char* once : {"trained_on", "trained_on_zh"}) part.erase(once);
  }
  return shown;
}

}  // namespace isobar::report
