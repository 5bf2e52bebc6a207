#include "plot.h"

#include <cmath>

#include "../../core/error.h"

namespace isobar {
namespace {

const char* name_of(Role role) {
  return role == Role::measured ? "measured" : role == Role::theory ? "theory" : "printed";
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
          "plot '{}': curve '{}' has {} x, {} y, {} low and {} high; wanted one length", plot.title,
          curve.label, curve.x.size(), curve.y.size(), curve.low.size(), curve.high.size());
    Json points = Json::array();
    for (size_t i = 0; i < curve.x.size(); ++i)
      points.push_back(
          {curve.x[i], band ? curve.low[i] : curve.y[i], curve.y[i], band ? curve.high[i] : curve.y[i]});
    curves.push_back({{"label", curve.label}, {"role", name_of(curve.role)}, {"points", std::move(points)}});
  }
  return {{"key", plot.key.empty() ? key_from(plot.title) : plot.key},
          {"title", plot.title},
          {"x", plot.x},
          {"y", plot.y},
          {"log", plot.log},
          {"figures", plot.figures},
          {"ticks", plot.ticks},
          {"curves", std::move(curves)}};
}

Json to_json(const Ridges& ridges) {
  const auto rounded = [&](const std::vector<double>& shares, size_t wanted) {
    check(shares.size() == wanted, "ridges '{}': wanted {} shares, got {}", ridges.title, wanted,
          shares.size());
    Json values = Json::array();
    for (const double share : shares) values.push_back(std::round(share * 1e4) / 1e4);
    return values;
  };
  const size_t steps = ridges.steps.size(), modules = ridges.modules.size();
  check(ridges.shares.size() == steps && ridges.zeros.size() == steps,
        "ridges '{}': {} and {} steps of shares and zeros for {} steps", ridges.title, ridges.shares.size(),
        ridges.zeros.size(), steps);
  Json shares = Json::array(), zeros = Json::array();
  for (size_t step = 0; step < steps; ++step) {
    check(ridges.shares[step].size() == modules, "ridges '{}': {} modules at a step, wanted {}", ridges.title,
          ridges.shares[step].size(), modules);
    Json of_step = Json::array();
    for (const std::vector<double>& bins : ridges.shares[step])
      of_step.push_back(rounded(bins, ridges.edges.size() - 1));
    shares.push_back(std::move(of_step));
    zeros.push_back(rounded(ridges.zeros[step], modules));
  }
  return {{"title", ridges.title},
          {"title_zh", ridges.title_zh},
          {"quantity", ridges.quantity},
          {"modules", ridges.modules},
          {"steps", ridges.steps},
          {"edges", ridges.edges},
          {"shares", shares},
          {"zeros", zeros}};
}

Json to_json(const Heatmap& heatmap) {
  const auto& [title, x, value, log, columns, rows, values] = heatmap;
  check(values.size() == rows.size(), "heatmap '{}': {} rows of values for {} names", title, values.size(),
        rows.size());
  for (const std::vector<double>& row : values)
    check(row.size() == columns.size(), "heatmap '{}': a row has {} values for {} columns", title, row.size(),
          columns.size());
  return {{"title", title},     {"x", x},       {"value", value},  {"log", log},
          {"columns", columns}, {"rows", rows}, {"values", values}};
}

}  // namespace isobar
