// what_trains in the live chapter: the kept map, what it and the formulas say of a net, and the net's training.
// live_map.js has the other side. A worker calls train(); the page calls map() once, then place(), answer() and curve().
#include "../../run/plot.h"
#include "../../studies/what_trains/answer.h"
#include "../../studies/what_trains/picture.h"
#include "../charts/charts.h"
#include "exports.h"
#include "training.h"

IMPORT(stepped) void page_stepped(int step, double loss);

namespace isobar::live {
namespace {

trains::Map kept;

constexpr double most_depth = 32, least_scale = 1.0 / 16, most_scale = 16;

struct Asked {
  trains::Net net;
  double rate;
};
Asked asked_of(const Json& given) {
  const auto number = [&](const char* name, double least, double most) {
    const Json& value = given.at(name);
    check(value.is_number() && value >= least && value <= most, "{}: wanted a number from {} to {}, got {}",
          name, least, most, value.dump());
    return value.get<double>();
  };
  Asked asked{.net = {.norm = given.at("norm")}, .rate = number("rate", 0x1p-30, 8)};
  check(std::ranges::count(trains::norm_choices(), asked.net.norm) == 1, "norm: there is no {}",
        asked.net.norm);
  const double depth = number("depth", 1, most_depth);
  check(given.at("depth").is_number_integer(), "depth: wanted a whole number, got {}",
        given.at("depth").dump());
  asked.net.depth = static_cast<int64_t>(depth);
  asked.net.scale = number("scale", least_scale, most_scale);
  return asked;
}

Json rates_json(const trains::Borders& borders) {
  if (!borders.trains()) return nullptr;
  return {borders.lowest_rate, borders.highest_rate};
}

}  // namespace

// In: map.json.
EXPORT(map) void map() { kept = trains::map_from(words); }

// In: {"norm": …, "depth": …, "scale": …, "rate": …}; the same below. Out: {"predicted": [lowest, highest rate], "expected":
// the same, "nearest": {"depth": …, "scale": …, "measured": the same}, "gain": of this net at this rate}; rates are null
// where it trains at none, nearest and gain where nothing was measured.
EXPORT(say) void say() {
  const auto [net, rate] = asked_of(Json::parse(words));
  Json said = {{"predicted", rates_json(predicted_borders(net, kept.steps))},
               {"expected", rates_json(expected_borders(kept, net))},
               {"trains", expected_to_train(kept, net, rate)},
               {"nearest", nullptr},
               {"gain", nullptr}};
  if (const trains::MeasuredNet* nearest = nearest_to(kept, net)) {
    said["nearest"] = {{"depth", nearest->net.depth}, {"scale", nearest->net.scale}, {"measured", nullptr}};
    if (nearest->window)
      said["nearest"]["measured"] = {nearest->window->lowest_rate(), nearest->window->highest_rate()};
    if (nearest->net == net)
      for (const auto& [octave, gain] : nearest->cells)
        if (std::exp2(static_cast<double>(octave)) == rate) said["gain"] = gain;
  }
  answer(said);
}

// Out: SVG.
EXPORT(place) void place(double width) {
  const auto [net, rate] = asked_of(Json::parse(words));
  words = charts::svg(place_of(kept, net, rate, width)).text();
}

// In: {"losses": […], "enough": the gain that is learning}. Out: SVG.
EXPORT(curve) void curve(double width) {
  const Json given = Json::parse(words);
  const double blind = std::log(10.0);
  const auto level = [](Phrase label, double value, int colour) {
    return PlotCurve{
        .label = std::move(label), .role = Role::theory, .x = {0, 99}, .y = {value, value}, .colour = colour};
  };
  PlotCurve own{.label = {"loss", "损失"}};
  for (const Json& loss : given.at("losses")) {
    own.x.push_back(static_cast<double>(own.x.size()));
    own.y.push_back(loss);
  }
  Plot plot{.title = {"loss of each step's digits", "每一步的损失"},
            .x = {"step", "步"},
            .y = {"loss", "损失"},
            .log = true};
  plot.curves = {own, level({"guessing", "盲猜"}, blind, 8),
                 level({"learns", "学会"}, blind - given.at("enough").get<double>(), 2)};
  words = charts::svg(charts::line_chart(plot, {.width = width, .height = 260})).text();
}

// Out: {"losses": […], "loss": on validation images, "gain": …, "accuracy": …, "bits": …}.
EXPORT(train) void train_net() {
  const auto [net, rate] = asked_of(Json::parse(words));
  const Trained trained =
      train(net, rate, [](int64_t step, double loss) { page_stepped(static_cast<int>(step), loss); });
  answer({{"losses", trained.losses},
          {"loss", number_or_null(trained.loss)},
          {"gain", number_or_null(std::log(10.0) - trained.loss)},
          {"accuracy", number_or_null(trained.accuracy)},
          {"bits", trained.bits}});
}

}  // namespace isobar::live
