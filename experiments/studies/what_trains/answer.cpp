#include "answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "prediction.h"

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

// Rates, as a sentence ends.
std::string window_text(double low, double high) {
  return fmt::format("at rates from {:.2g} to {:.2g} ({:.1f} octaves)", low, high, std::log2(high / low));
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

std::string advice(const Map& map, const Net& net, double rate) {
  const Borders borders = predicted_borders(net, map.steps);
  Net normed = net;
  normed.norm = "pre.rmsnorm";
  if (!borders.trains()) {
    const bool norm_helps = !net.has_norm() && predicted_borders(normed, map.steps).trains();
    const std::string scale = scale_text(net, map.steps);
    if (scale.starts_with("no "))
      return norm_helps ? "a norm is needed" : "this net does not train, at any scale";
    return norm_helps ? "a norm is needed, or " + scale : "it needs " + scale;
  }
  if (rate > 0 && rate < borders.lowest_rate) return fmt::format("the rate {:.2g} is too low", rate);
  if (rate > 0 && rate > borders.highest_rate) return fmt::format("the rate {:.2g} is too high", rate);
  if (net.has_norm()) return "it trains; by the formulas it does so at " + scale_text(net, map.steps);
  return "no norm is needed: without one it trains at " + scale_text(net, map.steps);
}

}  // namespace

bool predicted_to_train(const Map& map, const Net& net, double rate) {
  const Borders borders = predicted_borders(net, map.steps);
  return borders.trains() && (rate == 0 || (rate >= borders.lowest_rate && rate <= borders.highest_rate));
}

std::string answer(const Map& map, const Net& net, double rate) {
  const Borders borders = predicted_borders(net, map.steps);
  std::string text = net_text(net) + "\n";
  text += borders.trains() ? fmt::format("predicted: learns in {} steps {}\n", map.steps,
                                         window_text(borders.lowest_rate, borders.highest_rate))
                           : fmt::format("predicted: learns at no rate in {} steps\n", map.steps);
  const auto nearer = [&](const MeasuredNet& a, const MeasuredNet& b) {
    return distance(a.net, net) < distance(b.net, net);
  };
  const auto nearest = std::ranges::min_element(map.nets, nearer);
  if (nearest == map.nets.end() || std::isinf(distance(nearest->net, net)))
    text += "measured: no net with this norm and this optimizer\n";
  else
    text += fmt::format("measured nearest: {}\n  {}\n", net_text(nearest->net),
                        nearest->window ? "learns " + window_text(nearest->window->lowest_rate(),
                                                                  nearest->window->highest_rate())
                                        : "learns at no rate");
  return text + "so: " + advice(map, net, rate) + "\n";
}

}  // namespace isobar::trains
