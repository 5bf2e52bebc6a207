#include "answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isobar::trains {
namespace {

std::string norm_text(const Net& net) {
  if (net.norm == "none") return "no norm";
  return net.norm;
}

std::string optimizer_text(const Net& net) {
  if (net.optimizer == "adamw") return "AdamW";
  return net.optimizer == "muon" ? "Muon" : "SGD with momentum";
}

std::string net_text(const Net& net) {
  const char* of = net.task == "plain"      ? "plain MLP of {} layers"
                   : net.task == "residual" ? "residual MLP of {} blocks"
                                            : "transformer of {} blocks";
  std::string text =
      fmt::format(fmt::runtime(of), net.depth) +
      fmt::format(", width {}, {}, {}; weights of std {:.3g} (scale {:.3g})", net.width, norm_text(net),
                  optimizer_text(net), net.scale / std::sqrt(static_cast<double>(net.width)), net.scale);
  if (!net.is_mlp()) text += fmt::format(", embedding of std {:.3g}", net.embedding_std);
  return text;
}

// How far nets are from each other, in octaves of scale, depth and embedding; infinite for others.
double distance(const Net& a, const Net& b) {
  if (a.task != b.task || a.norm != b.norm || a.optimizer != b.optimizer) return HUGE_VAL;
  const auto octaves = [](double x, double y) { return std::abs(std::log2(x / y)); };
  return octaves(a.scale, b.scale) + octaves(static_cast<double>(a.depth), static_cast<double>(b.depth)) +
         (a.is_mlp() ? 0 : octaves(a.embedding_std, b.embedding_std));
}

std::string scale_text(const Net& net, int64_t steps) {
  constexpr double from = 1.0 / 64, to = 64;
  const double least = predicted_least_scale(net, steps, from, to),
               greatest = predicted_greatest_scale(net, steps, from, to);
  const double unit = 1 / std::sqrt(static_cast<double>(net.width));
  if (std::isnan(greatest)) return "no scale of its weights";
  if (least == 0 && std::isinf(greatest)) return "any scale of its weights";
  if (least == 0) return fmt::format("a std of its weights below {:.2g}", greatest * unit);
  if (std::isinf(greatest)) return fmt::format("a std of its weights above {:.2g}", least * unit);
  return fmt::format("a std of its weights from {:.2g} to {:.2g}", least * unit, greatest * unit);
}

// The scales at which the map's nets of this norm and optimizer train, those of the depth and embedding that are nearest to
// the net's; empty where it has none, or none trains.
std::string measured_scale_text(const Map& map, const Net& net) {
  const auto differs = [&](const MeasuredNet& one) {
    Net of_scale = one.net;
    of_scale.scale = net.scale;
    return distance(of_scale, net);
  };
  double nearest = HUGE_VAL;
  for (const MeasuredNet& one : map.nets) nearest = std::min(nearest, differs(one));
  double least = HUGE_VAL, greatest = 0;
  if (std::isinf(nearest)) return "";
  for (const MeasuredNet& one : map.nets)
    if (one.window && differs(one) == nearest)
      least = std::min(least, one.net.scale), greatest = std::max(greatest, one.net.scale);
  if (greatest == 0) return "";
  const double unit = 1 / std::sqrt(static_cast<double>(net.width));
  return least == greatest
             ? fmt::format("weights of a std of about {:.2g}", least * unit)
             : fmt::format("weights of a std of {:.2g} to {:.2g}", least * unit, greatest * unit);
}

std::string learns_text(const Borders& borders) {
  if (!borders.trains()) return "learns at no rate";
  return fmt::format("learns at rates from {:.2g} to {:.2g} ({:.1f} octaves)", borders.lowest_rate,
                     borders.highest_rate, borders.octaves());
}

std::string advice(const Map& map, const Net& net, double rate) {
  const Borders borders = expected_borders(map, net);
  if (!borders.trains()) {
    Net normed = net;
    normed.norm = "pre.rmsnorm";
    const bool norm_helps = !net.has_norm() && expected_borders(map, normed).trains();
    // What was measured decides here, for the formulas may have let this net train.
    const std::string trains_at = measured_scale_text(map, net);
    if (norm_helps) return trains_at.empty() ? "a norm is needed" : "a norm is needed, or " + trains_at;
    return trains_at.empty() ? "at no rate does this net learn so much" : "it needs " + trains_at;
  }
  if (rate > 0 && rate < borders.lowest_rate) return fmt::format("the rate {:.2g} is too low", rate);
  if (rate > 0 && rate > borders.highest_rate) return fmt::format("the rate {:.2g} is too high", rate);
  const std::string scale = scale_text(net, map.steps);
  if (scale.starts_with("no ")) return "it trains, though not by the formulas";
  if (net.has_norm()) return "it trains; by the formulas it does so at " + scale;
  return "no norm is needed; by the formulas it trains without one at " + scale;
}

}  // namespace

const MeasuredNet* nearest_to(const Map& map, const Net& net) {
  const MeasuredNet* nearest = nullptr;
  for (const MeasuredNet& one : map.nets)
    if (const double far = distance(one.net, net);
        !std::isinf(far) && (nearest == nullptr || far < distance(nearest->net, net)))
      nearest = &one;
  return nearest;
}

Borders expected_borders(const Map& map, const Net& net) {
  const Borders predicted = predicted_borders(net, map.steps);
  const MeasuredNet* const nearest = nearest_to(map, net);
  if (nearest == nullptr || distance(nearest->net, net) > 2) return predicted;
  const Borders there = predicted_borders(nearest->net, map.steps);
  if (!nearest->window) return {.lowest_rate = 1, .highest_rate = 0};
  // Too large logits have no highest rate: where the formulas differ in that, they decide.
  if (predicted.highest_rate == 0 && there.highest_rate > 0) return predicted;
  const double up =
      there.highest_rate > 0 && predicted.highest_rate > 0 ? predicted.highest_rate / there.highest_rate : 1;
  return {.lowest_rate = nearest->window->lowest_rate() * predicted.lowest_rate / there.lowest_rate,
          .highest_rate = nearest->window->highest_rate() * up};
}

bool expected_to_train(const Map& map, const Net& net, double rate) {
  const Borders borders = expected_borders(map, net);
  return borders.trains() && (rate == 0 || (rate >= borders.lowest_rate && rate <= borders.highest_rate));
}

std::string answer(const Map& map, const Net& net, double rate) {
  std::string text = net_text(net) + "\n";
  text +=
      fmt::format("predicted: {} in {} steps\n", learns_text(predicted_borders(net, map.steps)), map.steps);
  if (const MeasuredNet* const nearest = nearest_to(map, net))
    text += fmt::format(
        "measured nearest: {}\n  {}\n", net_text(nearest->net),
        learns_text(nearest->window ? Borders{nearest->window->lowest_rate(), nearest->window->highest_rate()}
                                    : Borders{1, 0}));
  else
    text += "measured: no net with this norm and this optimizer\n";
  text += fmt::format("expected: {}\n", learns_text(expected_borders(map, net)));
  return text + fmt::format("so, if 90 % of the best gain of its task in {} steps is asked: {}\n", map.steps,
                            advice(map, net, rate));
}

}  // namespace isobar::trains
