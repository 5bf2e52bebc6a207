#include "scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../../run/stats.h"
#include "../../run/table.h"
#include "prediction.h"

namespace isobar::trains {
namespace {

// Whether the net, of any seed, was in the trials that gave the constants (predictions.md names them).
bool is_of_the_trial(const Net& net) {
  const auto any_of = [](double value, std::initializer_list<double> of) {
    return std::ranges::any_of(of, [&](double one) { return std::abs(value / one - 1) < 0.01; });
  };
  const double root = std::numbers::sqrt2;
  if (net.norm != "pre.rmsnorm" && (net.norm != "none" || net.optimizer != "adamw")) return false;
  if (net.optimizer != "adamw") return net.depth == default_depth(net.task) && any_of(net.scale, {1, root});
  if (net.task == "plain") return net.depth == 8 && any_of(net.scale, {1, root});
  if (net.task == "residual") return net.depth == 8 && any_of(net.scale, {0.25, 1, root, 2});
  return net.scale == 1 && net.embedding_std == 1 && (net.depth == 4 || net.depth == 8);
}

// What counts as the same border of another norm.
Net without_norm(Net net) {
  net.norm = "";
  return net;
}

void add_rate_borders(const Map& map, std::vector<Border>& borders) {
  for (const MeasuredNet& one : map.nets) {
    if (!one.window || is_of_the_trial(one.net)) continue;
    const Borders predicted = predicted_borders(one.net, map.steps);
    const double none = std::numeric_limits<double>::quiet_NaN();
    if (one.window->below)
      borders.push_back({.kind = Kind::lowest_rate,
                         .net = one.net,
                         .measured = one.window->lowest_rate(),
                         .predicted = predicted.trains() ? predicted.lowest_rate : none});
    if (one.window->above)
      borders.push_back({.kind = Kind::highest_rate,
                         .net = one.net,
                         .measured = one.window->highest_rate(),
                         .predicted = predicted.trains() ? predicted.highest_rate : none});
  }
}

// Adds the border unless both say that there is none in the range.
void add_inside(std::vector<Border>& borders, Border border, double from, double to) {
  const auto clamped = [&](double value) { return std::isnan(value) ? value : std::clamp(value, from, to); };
  border.measured = clamped(border.measured);
  border.predicted = clamped(border.predicted);
  const auto inside = [&](double value) { return !std::isnan(value) && value > from && value < to; };
  if (inside(border.measured) || inside(border.predicted)) borders.push_back(border);
}

// The lines of a map: a net of each, whose scale or depth says nothing.
std::vector<Net> lines(const Map& map, bool of_depths) {
  std::vector<Net> nets;
  for (const MeasuredNet& one : map.nets) {
    Net net = one.net;
    if (of_depths ? net.scale != default_scale(net.task) : net.depth != default_depth(net.task)) continue;
    (of_depths ? net.depth = default_depth(net.task) : net.scale = default_scale(net.task));
    if (std::ranges::count(nets, net) == 0) nets.push_back(net);
  }
  return nets;
}

// A measured border, "none" where all train, and NaN where none does.
double value_or(const std::optional<ValueBorder>& border, const std::map<double, bool>& trains, double none) {
  if (border) return border->at();
  const bool some = std::ranges::any_of(trains, [](const auto& one) { return one.second; });
  return some ? none : std::numeric_limits<double>::quiet_NaN();
}

void add_value_borders(const Map& map, std::vector<Border>& borders) {
  for (const Net& net : lines(map, false)) {
    const std::map<double, bool> trains = map.along_scale(net);
    if (trains.size() < 2) continue;
    const double from = trains.begin()->first, to = trains.rbegin()->first;
    add_inside(borders,
               {.kind = Kind::least_scale,
                .net = net,
                .measured = value_or(border_below(trains), trains, 0),
                .predicted = predicted_least_scale(net, map.steps, from, to)},
               from, to);
    // That of the residual net without a norm is where the trial took large_logits from.
    if (net.task == "residual" && net.optimizer == "adamw" && net.norm == "none") continue;
    add_inside(borders,
               {.kind = Kind::greatest_scale,
                .net = net,
                .measured = value_or(border_above(trains), trains, infinity),
                .predicted = predicted_greatest_scale(net, map.steps, from, to)},
               from, to);
  }
  for (const Net& net : lines(map, true)) {
    const std::map<double, bool> trains = map.along_depth(net);
    if (trains.size() < 2) continue;
    const auto from = static_cast<int64_t>(trains.begin()->first),
               to = static_cast<int64_t>(trains.rbegin()->first);
    add_inside(borders,
               {.kind = Kind::greatest_depth,
                .net = net,
                .measured = value_or(border_above(trains), trains, infinity),
                .predicted = predicted_greatest_depth(net, map.steps, from, to)},
               static_cast<double>(from), static_cast<double>(to));
  }
}

// The median of the measured borders that are the same but for norm, scale and depth, and are not this one.
template <class Same>
std::optional<double> median_of_others(const std::vector<Border>& borders, const Border& like,
                                       const Same& same) {
  std::vector<double> values;
  for (const Border& one : borders)
    if (&one != &like && one.kind == like.kind && one.net.task == like.net.task &&
        one.net.optimizer == like.net.optimizer && !std::isnan(one.measured) && same(one))
      values.push_back(one.measured);
  return values.empty() ? std::nullopt : std::optional(spread_of(values).median);
}

}  // namespace

const char* kind_name(Kind kind) {
  constexpr const char* names[] = {"lowest rate", "highest rate", "least scale", "greatest scale",
                                   "greatest depth"};
  return names[static_cast<size_t>(kind)];
}

double tolerance_of(Kind kind) {
  return kind <= Kind::highest_rate     ? rate_tolerance
         : kind == Kind::greatest_depth ? depth_tolerance
                                        : scale_tolerance;
}

bool Border::within(const std::optional<double>& value) const {
  if (!value) return false;
  if (std::isnan(measured) || std::isnan(*value)) return std::isnan(measured) && std::isnan(*value);
  return std::abs(std::log(*value / measured)) <= std::log(tolerance_of(kind)) * (1 + 1e-9);
}

double Border::octaves_to(const std::optional<double>& value) const {
  return value ? std::log2(*value / measured) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<Border> borders_of(const Map& map) {
  std::vector<Border> borders;
  add_rate_borders(map, borders);
  add_value_borders(map, borders);
  std::ranges::stable_sort(borders, {}, &Border::kind);
  for (Border& border : borders) {
    border.null = median_of_others(borders, border, [](const Border&) { return true; });
    border.null_here = median_of_others(borders, border, [&](const Border& one) {
      return without_norm(one.net) == without_norm(border.net);
    });
  }
  return borders;
}

void Score::add(const Border& border) {
  ++borders;
  predicted += border.within(border.predicted);
  null += border.within(border.null);
  squares += std::pow(border.octaves_to(border.predicted), 2);
  null_squares += std::pow(border.octaves_to(border.null), 2);
  if (!border.null_here) return;
  ++paired;
  predicted_of_paired += border.within(border.predicted);
  null_here += border.within(border.null_here);
}

double Score::error() const { return std::sqrt(squares / static_cast<double>(borders)); }
double Score::null_error() const { return std::sqrt(null_squares / static_cast<double>(borders)); }

std::array<std::array<int64_t, 2>, 2> nets_predicted_to_train(const Map& map) {
  std::array<std::array<int64_t, 2>, 2> nets{};
  for (const MeasuredNet& one : map.nets)
    if (!is_of_the_trial(one.net))
      ++nets[predicted_borders(one.net, map.steps).trains()][one.window.has_value()];
  return nets;
}

namespace {

// "0.125 to 1.19", "at no scale", "≥ 0.95": where a side has no border within what was tried it says nothing of it.
std::string range_text(const std::map<double, bool>& trains, double least, double greatest) {
  if (std::isnan(least) || std::isnan(greatest)) return "none";
  const bool below = least > trains.begin()->first, above = greatest < trains.rbegin()->first;
  if (!below && !above) return "all";
  if (!below) return fmt::format("up to {:.2g}", greatest);
  return above ? fmt::format("{:.2g} to {:.2g}", least, greatest) : fmt::format("from {:.2g}", least);
}

}  // namespace

std::string scores_text(const Map& map) {
  Table scales({"net", "scales tried", "it trains at", "predicted"}, "llll");
  for (const Net& net : lines(map, false)) {
    const std::map<double, bool> trains = map.along_scale(net);
    if (trains.size() < 2) continue;
    const double from = trains.begin()->first, to = trains.rbegin()->first;
    scales.row({net.key(), fmt::format("{:.3g} to {:.3g}", from, to),
                range_text(trains, value_or(border_below(trains), trains, 0),
                           value_or(border_above(trains), trains, infinity)),
                range_text(trains, predicted_least_scale(net, map.steps, from, to),
                           predicted_greatest_scale(net, map.steps, from, to))});
  }
  const auto nets = nets_predicted_to_train(map);
  Table trains({"nets", "train", "train at no rate"}, "lrr");
  trains.row({"predicted to train", std::to_string(nets[1][1]), std::to_string(nets[1][0])});
  trains.row({"predicted to train at no rate", std::to_string(nets[0][1]), std::to_string(nets[0][0])});

  Table within({"borders", "number", "predicted", "one for all", "paired", "predicted", "one for all norms"},
               "lrrrrrr");
  std::vector<Border> borders = borders_of(map);
  const auto add = [&](const auto& name) {
    for (const auto& [of, score] : scores_by(borders, name))
      within.row({of, std::to_string(score.borders), std::to_string(score.predicted),
                  std::to_string(score.null), std::to_string(score.paired),
                  std::to_string(score.predicted_of_paired), std::to_string(score.null_here)});
  };
  const auto optimizer = [](const Border& b) { return b.net.optimizer; };
  add([](const Border&) { return std::string("all"); });
  add([](const Border& b) { return std::string(kind_name(b.kind)); });
  add([](const Border& b) { return b.net.task; });
  add([](const Border& b) { return b.net.norm; });
  if (scores_by(borders, optimizer).size() > 1) add(optimizer);

  std::erase_if(borders, [](const Border& b) { return b.kind > Kind::highest_rate; });
  Table errors({"rates", "number", "predicted", "one for all", "error in octaves", "of one for all"},
               "lrrrrr");
  for (const auto& [of, score] : scores_by(
           borders, [](const Border& b) { return fmt::format("{}, {}", kind_name(b.kind), b.net.task); }))
    errors.row({of, std::to_string(score.borders), std::to_string(score.predicted),
                std::to_string(score.null), fmt::format("{:.2f}", score.error()),
                fmt::format("{:.2f}", score.null_error())});
  return scales.text(110) + "\n" + trains.text(110) + "\n" + within.text(110) + "\n" + errors.text(110);
}

}  // namespace isobar::trains
