#include "shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "../harness/lists.h"
#include "../harness/plot.h"

namespace isobar::report {
namespace {

constexpr size_t most_points = 160, most_columns = 60, most_values = 400;

// Five digits: more than a chart can show. Whole numbers stay whole.
void round_numbers(Json& json) {
  if (json.is_structured())
    for (Json& item : json) round_numbers(item);
  else if (json.is_number_float() && std::isfinite(json.get<double>()))
    json = std::strtod(fmt::format("{:.5g}", json.get<double>()).c_str(), nullptr);
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

Json shown_heatmap(Json map) {
  for (Json& row : map["values"]) row = thinned(row, most_columns);
  map["columns"] = thinned(map["columns"], most_columns);
  return map;
}

}  // namespace

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
  if (const Json values = summary.value("measured", Json::object());
      run["plots"].empty() && values.size() <= most_values)
    run["values"] = values;
  for (Json& value : run["values"])
    if (value.is_object()) value.erase("values");
  round_numbers(run["values"]);
  return run;
}

Json shown_claim(const Json& claim) {
  Json shown = claim;
  for (const char* said_by_parts : {"reason", "reason_zh"}) shown.erase(said_by_parts);
  if (shown.contains("kept") && shown["kept"].is_object())
    for (const char* long_text : {"reason", "reason_zh"}) shown["kept"].erase(long_text);
  for (const auto& [name, value] : claim.items())
    if (value.is_null() || value == "") shown.erase(name);
  for (Json& part : shown["parts"]) {
    for (const char* drawn : {"measured", "measured_zh", "wanted", "wanted_zh"}) part.erase(drawn);
  }
  return shown;
}

}  // namespace isobar::report
