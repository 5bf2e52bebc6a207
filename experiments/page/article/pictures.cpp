#include "pictures.h"

#include "../../claims/results.h"
#include "../../run/lists.h"
#include "../figures.h"
#include "../closed_forms.h"

namespace isobar::fixtures {
extern const char accuracy[], curves[];  // page/figures/*.svg
}  // namespace isobar::fixtures

namespace isobar::article {
namespace {

// A picture without a ground of its own. Every byte but the plainest is written as %XX, so that the address can stand in an attribute.
std::string image(std::string svg) {
  const std::string ground = "<rect class=\"ground\"";
  if (const size_t at = svg.find(ground); at != std::string::npos)
    svg.replace(at, ground.size(), "<rect fill=\"none\"");  // it stands on the article's paper
  std::string address;
  for (const char c : svg)
    address += std::isalnum(static_cast<unsigned char>(c)) ||
                       std::string_view(" -._~/:;,=()").find(c) != std::string_view::npos
                   ? std::string(1, c)
                   : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return fmt::format("<img alt=\"\" src=\"data:image/svg+xml,{}\">", address);
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

}  // namespace

std::string stored_picture(const std::string& name) {
  static const std::map<std::string, const char*> stored = {{"accuracy", fixtures::accuracy},
                                                            {"curves", fixtures::curves}};
  const auto found = stored.find(name);
  check(found != stored.end(), "there is no stored picture {}", name);
  return image(found->second);
}

std::string drawn_picture(const std::string& name, const claims::Runs& runs) {
  check(name == "layers" || name == "gradients", "there is no chart {}", name);
  return image(report::figure_svg(name == "layers" ? layers(runs) : facts::gradients_by_layer(), "en",
                                  {.width = 728, .height = 290}));
}

std::string ladder_picture(const std::vector<std::pair<std::string, Json>>& parts,
                           const std::string& climbs) {
  Plot plot{.title = "", .x = "binary logarithm of " + climbs, .y = "difference"};
  std::vector<double> values;
  for (const auto& [name, part] : parts)
    for (const Json& reach : part.at("reaches")) {
      PlotCurve curve{.label = fmt::format("{}, {}", name, reach.at("optimizer").get<std::string>())};
      for (const Json& rung : reach.at("rungs")) {
        curve.x.push_back(number_from(rung.at("log2_compute")));
        values.push_back(curve.y.emplace_back(number_from(rung.at("value"))));
        curve.low.push_back(number_from(rung.at("interval").at(0)));
        curve.high.push_back(number_from(rung.at("interval").at(1)));
      }
      plot.curves.push_back(curve);
    }
  const Range view = report::view_of(values);
  for (PlotCurve& curve : plot.curves)
    for (size_t i = 0; i < curve.y.size(); ++i) {
      curve.low[i] = std::max(curve.low[i], view.low);
      curve.high[i] = std::min(curve.high[i], view.high);
    }
  return image(report::figure_svg(plot, "en", {.width = 728, .height = 200}));
}

}  // namespace isobar::article
