#include "plot.h"

#include <array>

#include "../../core/error.h"
#include "stats.h"

namespace isobar {
namespace {

constexpr std::array<const char*, 3> role_names = {"measured", "theory", "printed"};

Role role_named(const std::string& name) {
  for (size_t i = 0; i < role_names.size(); ++i)
    if (name == role_names[i]) return static_cast<Role>(i);
  check(false, "report: a curve's role: wanted measured, theory or printed; run the study again");
  return {};
}

// "std of each layer's output" becomes "std_of_each_layer_s_output".
std::string key_from(const std::string& title) {
  std::string key;
  for (const char c : title) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain)
      key += c;
    else if (!key.empty() && key.back() != '_')
      key += '_';
  }
  return key;
}

void set(Json& json, const std::string& name, const Phrase& phrase) {
  json[name] = phrase.en;
  if (!phrase.zh.empty()) json[name + "_zh"] = phrase.zh;
}
Phrase phrase_of(const Json& json, const std::string& name) {
  return {json.value(name, ""), json.value(name + "_zh", "")};
}

std::vector<double> values_of(const Json& list) {
  std::vector<double> values;
  for (const Json& value : list) values.push_back(number_from(value));
  return values;
}
std::vector<std::vector<double>> rows_of(const Json& lists) {
  std::vector<std::vector<double>> rows;
  for (const Json& list : lists) rows.push_back(values_of(list));
  return rows;
}
std::vector<std::string> texts_of(const Json& json, const char* name) {
  return json.value(name, std::vector<std::string>());
}

}  // namespace

void PlotCurve::add(double at, const Spread& spread) {
  x.push_back(at);
  y.push_back(spread.median);
  low.push_back(spread.min);
  high.push_back(spread.max);
}

Json to_json(const Plot& plot) {
  Json curves = Json::array();
  for (const PlotCurve& curve : plot.curves) {
    const auto fits = [&](const std::vector<double>& v) { return v.size() == curve.x.size(); };
    const bool band = !curve.low.empty() || !curve.high.empty();
    check(fits(curve.y) && (!band || (fits(curve.low) && fits(curve.high))),
          "plot '{}': curve '{}' has {} x, {} y, {} low and {} high; wanted one length", plot.title.en,
          curve.label.en, curve.x.size(), curve.y.size(), curve.low.size(), curve.high.size());
    Json points = Json::array();
    for (size_t i = 0; i < curve.x.size(); ++i)
      points.push_back(
          {curve.x[i], band ? curve.low[i] : curve.y[i], curve.y[i], band ? curve.high[i] : curve.y[i]});
    Json& json = curves.emplace_back();
    set(json, "label", curve.label);
    json["role"] = role_names[static_cast<size_t>(curve.role)];
    json["points"] = std::move(points);
  }
  Json json = {{"key", plot.key.empty() ? key_from(plot.title.en) : plot.key}};
  set(json, "title", plot.title);
  set(json, "x", plot.x);
  set(json, "y", plot.y);
  json["log"] = plot.log;
  json["figures"] = plot.figures;
  json["ticks"] = plot.ticks;
  json["curves"] = std::move(curves);
  return json;
}

Plot plot_of(const Json& json) {
  Plot plot{.title = phrase_of(json, "title"),
            .x = phrase_of(json, "x"),
            .y = phrase_of(json, "y"),
            .log = json.value("log", false),
            .key = json.value("key", json.value("title", "")),
            .figures = texts_of(json, "figures"),
            .ticks = texts_of(json, "ticks")};
  for (const Json& given : json.at("curves")) {
    PlotCurve curve{.label = phrase_of(given, "label"), .role = role_named(given.value("role", ""))};
    for (const std::vector<double>& point : rows_of(given.at("points"))) {
      curve.x.push_back(point.at(0));
      curve.low.push_back(point.at(1));
      curve.y.push_back(point.at(2));
      curve.high.push_back(point.at(3));
    }
    plot.curves.push_back(std::move(curve));
  }
  return plot;
}

Json to_json(const Ridges& ridges) {
  const auto fits = [&](size_t got, size_t wanted, const char* what) {
    check(got == wanted, "ridges '{}': {} {}, wanted {}", ridges.title.en, got, what, wanted);
  };
  const auto rounded = [&](const std::vector<double>& shares, size_t wanted) {
    fits(shares.size(), wanted, "shares");
    Json values = Json::array();
    for (const double share : shares) values.push_back(std::round(share * 1e4) / 1e4);
    return values;
  };
  const size_t steps = ridges.steps.size(), modules = ridges.modules.size(),
               bins = std::max<size_t>(ridges.edges.size(), 1) - 1;
  fits(ridges.shares.size(), steps, "steps of shares");
  fits(ridges.zeros.size(), steps, "steps of zeros");
  Json shares = Json::array(), zeros = Json::array();
  for (size_t step = 0; step < steps; ++step) {
    fits(ridges.shares[step].size(), modules, "modules");
    Json& of_step = shares.emplace_back(Json::array());
    for (const std::vector<double>& values : ridges.shares[step]) of_step.push_back(rounded(values, bins));
    zeros.push_back(rounded(ridges.zeros[step], modules));
  }
  Json json;
  set(json, "title", ridges.title);
  json.update({{"quantity", ridges.quantity},
               {"modules", ridges.modules},
               {"steps", ridges.steps},
               {"edges", ridges.edges},
               {"shares", shares},
               {"zeros", zeros}});
  return json;
}

Ridges ridges_of(const Json& json) {
  Ridges ridges{.title = phrase_of(json, "title"),
                .quantity = json.value("quantity", ""),
                .modules = texts_of(json, "modules"),
                .steps = values_of(json.at("steps")),
                .edges = values_of(json.at("edges")),
                .zeros = rows_of(json.at("zeros"))};
  for (const Json& step : json.at("shares")) ridges.shares.push_back(rows_of(step));
  to_json(ridges);  // refuses lengths that differ
  return ridges;
}

Json to_json(const Heatmap& heatmap) {
  const auto& [title, x, value, log, columns, rows, values] = heatmap;
  check(values.size() == rows.size(), "heatmap '{}': {} rows of values for {} names", title.en, values.size(),
        rows.size());
  for (const std::vector<double>& row : values)
    check(row.size() == columns.size(), "heatmap '{}': a row has {} values for {} columns", title.en,
          row.size(), columns.size());
  Json json;
  set(json, "title", title);
  set(json, "x", x);
  set(json, "value", value);
  json.update({{"log", log}, {"columns", columns}, {"rows", rows}, {"values", values}});
  return json;
}

Heatmap heatmap_of(const Json& json) {
  const Heatmap map{.title = phrase_of(json, "title"),
                    .x = phrase_of(json, "x"),
                    .value = phrase_of(json, "value"),
                    .log = json.value("log", false),
                    .columns = values_of(json.at("columns")),
                    .rows = texts_of(json, "rows"),
                    .values = rows_of(json.at("values"))};
  to_json(map);  // refuses lengths that differ
  return map;
}

}  // namespace isobar
