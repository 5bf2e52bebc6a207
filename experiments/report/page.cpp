#include "page.h"

#include <algorithm>
#include <filesystem>

#include "../../core/error.h"
#include "../../data/file.h"

namespace isobar::fixtures {
extern const char page[], style[], words[], charts[], script[], dygraph[], dygraph_css[];
}  // namespace isobar::fixtures

namespace isobar::report {
namespace {

constexpr size_t largest_summary = size_t{1} << 28;

Json summary_in(const std::string& folder) {
  const std::string path = folder + "/summary.json";
  check(std::filesystem::exists(path), "'{}' has no summary.json; name the folder of a finished run", folder);
  Json summary = Json::parse(read_file(path, largest_summary), nullptr, false);
  check(summary.is_object() && summary.contains("program"),
        "'{}' is not the summary of a run; run the study again", path);
  return summary;
}

// JSON inside a script element must not end it.
std::string embedded(const Json& json) {
  std::string text = with_named_infinities(json).dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

// The template with every @name@ of the list replaced.
std::string filled(std::string_view text, const std::vector<std::pair<std::string, std::string>>& values) {
  std::string result;
  while (!text.empty()) {
    bool found = false;
    for (const auto& [name, value] : values)
      if (text.starts_with(name)) {
        result += value;
        text.remove_prefix(name.size());
        found = true;
        break;
      }
    if (found) continue;
    result += text.front();
    text.remove_prefix(1);
  }
  return result;
}

}  // namespace

// Adds a run under its folder's name, or the whole folder where that name is taken. Returns the name.
std::string Content::add_run(const std::string& folder, const std::string& wanted, const Json& summary) {
  const bool taken =
      std::any_of(runs_.begin(), runs_.end(), [&](const Json& run) { return run["name"] == wanted; });
  const std::string name = wanted.empty() || taken ? folder : wanted;
  runs_.push_back({{"name", name},
                   {"program", summary["program"]},
                   {"configuration", summary.value("config", Json::object())},
                   {"environment", summary.value("environment", Json::object())},
                   {"timing", summary.value("timing", Json::object())},
                   {"expectations", summary.value("expectations", Json::array())},
                   {"plots", summary.value("plots", Json::array())},
                   {"heatmaps", summary.value("heatmaps", Json::array())}});
  for (Json& plot : runs_.back()["plots"]) {  // of runs that an older program made
    plot.emplace("key", plot.value("title", ""));
    plot.emplace("figures", Json::array());
    plot.emplace("ticks", Json::array());
  }
  return name;
}

// `names`: what the runs of its parts are called on the page.
void Content::add_claim(Json claim, const std::map<std::string, std::string>& names) {
  for (Json& part : claim["parts"]) {
    const auto shown = names.find(part.value("run", ""));
    if (shown != names.end()) part["run"] = shown->second;
  }
  claims_.push_back(std::move(claim));
}

void Content::add(const std::string& folder) {
  const Json summary = summary_in(folder);
  add_run(folder, std::filesystem::path(folder).lexically_normal().filename().string(), summary);
  std::map<std::string, std::string> names;
  for (const Json& run : summary.value("runs", Json::array())) {
    const std::string child = run.value("name", ""), path = folder + "/" + run.value("folder", child);
    if (run.value("done", false))
      names[child] = add_run(path, child, summary_in(path));
    else
      missing_.push_back({{"name", child}, {"reason", run.value("cannot_run", "")}});
  }
  for (const Json& claim : summary.value("claims", Json::array())) add_claim(claim, names);
  for (const Json& source : summary.value("sources", Json::array()))
    sources_[source.value("id", "")] = source;
}

std::string Content::page(const std::string& lang) const {
  return filled(
      fixtures::page,
      {{"@lang@", lang},
       {"@dygraph_css@", fixtures::dygraph_css},
       {"@style@", fixtures::style},
       {"@data@",
        embedded({{"claims", claims_}, {"sources", sources_}, {"runs", runs_}, {"missing", missing_}})},
       {"@dygraph@", fixtures::dygraph},
       {"@words@", fixtures::words},
       {"@charts@", fixtures::charts},
       {"@script@", fixtures::script}});
}

}  // namespace isobar::report
