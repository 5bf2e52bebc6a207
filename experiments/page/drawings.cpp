#include "drawings.h"

#include "../claims/results.h"
#include "../run/lists.h"
#include "closed_forms.h"
#include "figures.h"

namespace isobar::facts {
namespace {

// A chart of ladders: what they measured of these parts, "DyT" of "F24.3", over the logarithm of what climbs.
struct Ladder {
  std::string name, climbs;
  std::vector<std::pair<std::string, std::string>> parts;
};

const std::vector<Ladder>& ladders() {
  static const std::vector<Ladder> all = {
      {"ladder_dyt", "the operations of a training", {{"DyT", "F24.3"}, {"none", "A13.2"}}},
      {"ladder_derf", "the operations of a training", {{"Derf", "K02.1"}, {"interaction", "K02.2"}}},
      {"ladder_tokens", "letters a parameter", {{"DyT", "L01.1"}, {"hardtanh", "L05.1"}}}};
  return all;
}

const Json& measured(const claims::Runs& runs, const std::string& run) {
  const auto summary = runs.summaries.find(run);
  check(summary != runs.summaries.end(), "there is no kept run {}", run);
  return summary->second.at("measured");
}

// The std of the eight layers, with and without RMSNorm: measured from the least to the greatest seed, by the
// closed form, and as the text prints it.
Plot layers(const claims::Runs& runs) {
  Plot plot{.title = "std after each of eight layers", .x = "layer", .y = "std", .log = true};
  int colour = 0;
  for (const auto& [run, name] :
       {std::pair<std::string, const char*>{"blog8_rmsnorm", "with RMSNorm"}, {"blog8", "without a norm"}}) {
    const Json& values = measured(runs, run);
    const std::vector<double> said = claims::printed_values(run, "layer{}.std", 8);
    PlotCurve seeds{.label = name, .colour = colour}, theory{.label = "closed form", .role = Role::theory},
        printed{.label = "printed in the text", .role = Role::printed};
    for (size_t layer = 1; layer <= said.size(); ++layer) {
      const Json& value = values.at(fmt::format("layer{}.std", layer));
      seeds.add(static_cast<double>(layer), spread_from(value));
      for (PlotCurve* curve : {&theory, &printed}) curve->x.push_back(static_cast<double>(layer));
      theory.y.push_back(number_from(value.at("theory")));
      printed.y.push_back(said[layer - 1]);
    }
    for (const PlotCurve& curve : {seeds, theory, printed}) plot.curves.push_back(curve);
    ++colour;
  }
  return plot;
}

// A curve for each key of a part's reach, with the interval of confidence as far as the chart goes.
Plot rungs_of(const Ladder& ladder, const std::map<std::string, Json>& claims) {
  Plot plot{.title = "", .x = "binary logarithm of " + ladder.climbs, .y = "difference"};
  std::vector<double> values;
  for (const auto& [name, part] : ladder.parts) {
    const size_t dot = part.find('.');
    const Json& reaches =
        claims.at(part.substr(0, dot))["parts"].at(std::stoul(part.substr(dot + 1)) - 1)["reaches"];
    for (const Json& reach : reaches) {
      PlotCurve curve{.label = fmt::format("{}, {}", name, reach.at("optimizer").get<std::string>())};
      for (const Json& rung : reach.at("rungs")) {
        curve.x.push_back(number_from(rung.at("log2_compute")));
        values.push_back(curve.y.emplace_back(number_from(rung.at("value"))));
        curve.low.push_back(number_from(rung.at("interval").at(0)));
        curve.high.push_back(number_from(rung.at("interval").at(1)));
      }
      plot.curves.push_back(curve);
    }
  }
  const Range view = report::view_of(values);
  for (PlotCurve& curve : plot.curves)
    for (size_t i = 0; i < curve.y.size(); ++i) {
      curve.low[i] = std::max(curve.low[i], view.low);
      curve.high[i] = std::min(curve.high[i], view.high);
    }
  return plot;
}

}  // namespace

std::string drawing(const std::string& name, const claims::Runs& runs,
                    const std::map<std::string, Json>& claims) {
  const auto drawn = [](const Plot& plot, int height) {
    return report::figure_svg(plot, "en", {.width = 728, .height = static_cast<double>(height)});
  };
  if (name == "layers") return drawn(layers(runs), 290);
  if (name == "gradients") return drawn(gradients_by_layer(), 290);
  const auto ladder = std::ranges::find(ladders(), name, &Ladder::name);
  check(ladder != ladders().end(), "there is no chart {}", name);
  return drawn(rungs_of(*ladder, claims), 200);
}

std::vector<std::string> drawing_names() {
  std::vector<std::string> names = {"layers", "gradients"};
  for (const Ladder& ladder : ladders()) names.push_back(ladder.name);
  return names;
}

}  // namespace isobar::facts
