#include "picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "prediction.h"

namespace isobar::trains {
namespace {

using charts::at;
using charts::box;
using charts::element;
using charts::Markup;
using charts::path;
using charts::through;
using charts::words;

constexpr double cell = 15, gap = 46, left = 44, top = 54;

// Where rates and scales are, in pixels of a panel.
struct Axes {
  int64_t first, last;         // octaves of the rate
  std::vector<double> scales;  // from the greatest down

  double x(double rate) const { return (std::log2(rate) - static_cast<double>(first) + 0.5) * cell; }
  double y(double scale) const { return std::log2(scales.front() / scale) * 2 * cell + cell; }
  double width() const { return static_cast<double>(last - first + 1) * cell; }
  double height() const { return y(scales.back()) + cell; }
};

std::string colour(double gain, double enough, double best) {
  if (gain < -0.1) return "#c0392b";
  if (gain < 0.1 * best) return "#4a4a55";
  if (gain < enough) return fmt::format("hsl(220 12% {:.0f}%)", 35 + 40 * gain / enough);
  return "#f2c14e";
}

Markup text(double x, double y, const std::string& content, const char* anchor = "middle", int size = 11) {
  return element("text",
                 {{"x", at(x)}, {"y", at(y)}, {"text-anchor", anchor}, {"font-size", std::to_string(size)}},
                 Markup(content));
}

Markup line(const std::vector<std::pair<double, double>>& points, const char* stroke, bool dashed) {
  if (points.size() < 2) return {};
  return element("path", {{"d", through(points)},
                          {"fill", "none"},
                          {"stroke", stroke},
                          {"stroke-width", dashed ? "2" : "1.6"},
                          {"stroke-dasharray", dashed ? "5 3" : "none"}});
}

// The borders of the rate, down the low one and up the high one, where the net trains.
Markup outline(const std::vector<std::array<double, 3>>& borders, const Axes& axes, const char* stroke,
               bool dashed) {
  std::vector<std::pair<double, double>> low, high;
  const auto place = [&](double rate, double scale) {
    return std::pair(std::clamp(axes.x(rate), 0.0, axes.width()), axes.y(scale));
  };
  for (const auto& [scale, lowest, highest] : borders) {
    low.push_back(place(lowest, scale));
    high.push_back(place(highest, scale));
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  if (!low.empty()) low.push_back(low.front());
  return line(low, stroke, dashed);
}

Markup panel(const Map& map, const std::vector<const MeasuredNet*>& nets, const Axes& axes) {
  const Net& any = nets.front()->net;
  const double enough = map.enough.at(any.task), best = map.best.at(any.task);
  Markup svg =
      element("rect", {{"width", at(axes.width())}, {"height", at(axes.height())}, {"fill", "#e9e9ee"}});
  std::vector<std::array<double, 3>> measured, predicted;
  for (const MeasuredNet* one : nets) {
    const double y = axes.y(one->net.scale);
    for (const auto& [octave, gain] : one->cells)
      svg += element("rect", {{"x", at(static_cast<double>(octave - axes.first) * cell + 1)},
                              {"y", at(y - cell / 2 + 0.5)},
                              {"width", at(cell - 2)},
                              {"height", at(cell - 1)},
                              {"fill", colour(gain, enough, best)}});
    if (one->window)
      measured.push_back({one->net.scale, one->window->lowest_rate(), one->window->highest_rate()});
  }
  const double greatest = axes.scales.front(), least = axes.scales.back();
  for (double scale = greatest; scale >= least * 0.999; scale /= std::exp2(0.125)) {
    Net net = any;
    net.scale = scale;
    if (const Borders borders = predicted_borders(net, map.steps); borders.trains())
      predicted.push_back({scale, borders.lowest_rate, borders.highest_rate});
  }
  svg += outline(measured, axes, "#111", false) + outline(predicted, axes, "#0a7d55", true);
  svg += text(axes.width() / 2, -8, any.norm, "middle", 13);
  for (int64_t octave = axes.first; octave <= axes.last; octave += 4)
    svg += text(axes.x(std::exp2(static_cast<double>(octave))), axes.height() + 14,
                fmt::format("2^{}", octave), "middle", 9);
  return svg;
}

// --- Of one net: a panel for each of two numbers.

struct Upwards {
  Phrase name;
  bool of_depth;
  double from, to;            // at the panel's edges
  std::vector<double> ticks;  // powers of 2
  double value(const Net& net) const { return of_depth ? static_cast<double>(net.depth) : net.scale; }
  Net with(Net net, double value) const {
    if (of_depth)
      net.depth = std::llround(value);
    else
      net.scale = value;
    return net;
  }
};

struct Panel {
  double width, height, cell;
  int64_t first;  // octave of the rate at the left edge
  double from, to;

  double x(double rate) const { return (std::log2(rate) - static_cast<double>(first) + 0.5) * cell; }
  double y(double value) const { return height * std::log2(to / value) / std::log2(to / from); }
  std::pair<double, double> at(double rate, double value) const {
    return {std::clamp(x(rate), 0.0, width), std::clamp(y(value), 0.0, height)};
  }
};

Markup place_in(const Map& map, const Net& net, double rate, const Upwards& up, const Panel& panel) {
  Markup svg = path("place-ground", box(0, 0, panel.width, panel.height));
  const double enough = map.enough.at(net.task), best = map.best.at(net.task);
  // What was measured has the default depth, or scale; the net may have another.
  Net like = net;
  if (up.of_depth)
    like.scale = default_scale(net.task);
  else
    like.depth = default_depth(net.task);
  const bool its_line = like == net;
  for (const MeasuredNet& one : map.nets) {
    if (!(up.with(one.net, up.value(net)) == like)) continue;
    for (const auto& [octave, gain] : one.cells) {
      const double x = static_cast<double>(octave - panel.first) * panel.cell;
      svg +=
          path(its_line ? "cell" : "cell pale", box(x + 1, panel.y(up.value(one.net)) - 4, panel.cell - 2, 8),
               "fill:" + colour(gain, enough, best));
    }
  }
  std::vector<std::pair<double, double>> low, high;
  for (double value = up.from; value <= up.to * 1.001; value *= std::exp2(0.125))
    if (const Borders borders = predicted_borders(up.with(net, value), map.steps); borders.trains()) {
      low.push_back(panel.at(borders.lowest_rate, value));
      high.push_back(panel.at(borders.highest_rate, value));
    }
  low.insert(low.end(), high.rbegin(), high.rend());
  if (!low.empty()) low.push_back(low.front()), svg += path("predicted", through(low));
  const auto [x, y] = panel.at(rate, up.value(net));
  svg += element("circle", {{"class", "here"}, {"cx", charts::at(x)}, {"cy", charts::at(y)}, {"r", "6"}});
  for (const double tick : up.ticks) svg += words("tick", -6, panel.y(tick) + 4, "end", charts::plain(tick));
  for (int64_t octave = -12; octave <= -2; octave += 5)
    svg += words("tick", panel.x(std::exp2(static_cast<double>(octave))), panel.height + 15, "middle",
                 charts::number(std::exp2(static_cast<double>(octave)), 2));
  return svg + words("axis", 0, -8, "", up.name);
}

}  // namespace

charts::Drawing place_of(const Map& map, const Net& net, double rate, double width) {
  constexpr double to_left = 40, below = 40, above = 24, high = 150;
  constexpr int64_t first = -15, last = -1;
  const size_t columns = width >= 520 ? 2 : 1;
  const double each = (width - to_left * static_cast<double>(columns)) / static_cast<double>(columns) - 4;
  const std::array<Upwards, 2> all = {
      {{{"scale of the initial weights", "初始权重的尺度"}, false, 1.0 / 16, 16, {0.125, 0.5, 2, 8}},
       {{"number of blocks", "块数"}, true, 1, 64, {2, 8, 32}}}};
  Markup content;
  for (size_t i = 0; i < all.size(); ++i) {
    const Panel panel{.width = each,
                      .height = high,
                      .cell = each / static_cast<double>(last - first + 1),
                      .first = first,
                      .from = all[i].from,
                      .to = all[i].to};
    const double x = to_left + static_cast<double>(i % columns) * (each + to_left),
                 y = above + static_cast<double>(i / columns) * (high + above + below);
    content += element("g", {{"transform", "translate(" + charts::at(x) + " " + charts::at(y) + ")"}},
                       place_in(map, net, rate, all[i], panel) +
                           words("axis", each / 2, high + 32, "middle", Phrase("learning rate", "学习率")));
  }
  const double rows = static_cast<double>(all.size() / columns);
  return {.kind = "chart place",
          .width = width,
          .height = rows * (above + high + below),
          .label = {"the net on the map of what_trains", "此网络在 what_trains 图上的位置"},
          .content = content};
}

std::string picture_of(const Map& map, const std::string& task, const std::string& optimizer,
                       double embedding_std) {
  std::vector<std::vector<const MeasuredNet*>> panels;  // of one norm each, from the greatest scale down
  Axes axes{.first = 99, .last = -99, .scales = {}};
  for (const MeasuredNet& one : map.nets) {
    const Net& net = one.net;
    if (net.task != task || net.optimizer != optimizer || net.embedding_std != embedding_std ||
        net.depth != default_depth(task) || one.cells.empty())
      continue;
    const auto same = [&](const auto& panel) { return panel.front()->net.norm == net.norm; };
    auto found = std::ranges::find_if(panels, same);
    if (found == panels.end()) found = panels.insert(panels.end(), std::vector<const MeasuredNet*>());
    found->push_back(&one);
    axes.first = std::min(axes.first, one.cells.front().first);
    axes.last = std::max(axes.last, one.cells.back().first);
    if (std::ranges::count(axes.scales, net.scale) == 0) axes.scales.push_back(net.scale);
  }
  if (panels.empty()) return "";
  std::ranges::sort(axes.scales, std::greater());
  for (auto& nets : panels)
    std::ranges::sort(nets,
                      [](const MeasuredNet* a, const MeasuredNet* b) { return a->net.scale > b->net.scale; });

  Markup content;
  const size_t columns = std::min<size_t>(3, panels.size());
  for (size_t i = 0; i < panels.size(); ++i) {
    const double x = left + static_cast<double>(i % columns) * (axes.width() + gap),
                 y = top + static_cast<double>(i / columns) * (axes.height() + gap);
    Markup one = panel(map, panels[i], axes);
    for (const MeasuredNet* net : panels[i])
      one += text(-6, axes.y(net->net.scale) + 4, fmt::format("{:.3g}", net->net.scale), "end", 9);
    content += element("g", {{"transform", "translate(" + at(x) + " " + at(y) + ")"}}, one);
  }
  const size_t rows = (panels.size() + columns - 1) / columns;
  const double width = left + static_cast<double>(columns) * (axes.width() + gap),
               height = top + static_cast<double>(rows) * (axes.height() + gap) + 24;
  std::string title = fmt::format("{}, {}", task,
                                  optimizer == "adamw"  ? "AdamW"
                                  : optimizer == "muon" ? "Muon"
                                                        : "SGD");
  if (task == "transformer") title += fmt::format(", embedding of std {:g}", embedding_std);
  content +=
      text(left, 20, title + ": scale of the initial weights (up) and learning rate (right)", "start", 14);
  // What the colours are.
  double x = left;
  const double y = height - 16;
  const std::pair<const char*, const char*> keys[] = {{"#f2c14e", "learns"},
                                                      {"hsl(220 12% 60%)", "learns less"},
                                                      {"#4a4a55", "nothing"},
                                                      {"#c0392b", "worse than guessing"}};
  for (const auto& [fill, meaning] : keys) {
    content +=
        element("rect", {{"x", at(x)}, {"y", at(y - 10)}, {"width", "12"}, {"height", "12"}, {"fill", fill}});
    content += text(x + 17, y, meaning, "start");
    x += meaning == keys[3].second ? 150 : 95;
  }
  content += line({{x, y - 4}, {x + 26, y - 4}}, "#111", false) + text(x + 32, y, "measured border", "start");
  content += line({{x + 135, y - 4}, {x + 161, y - 4}}, "#0a7d55", true) +
             text(x + 167, y, "predicted border", "start");
  const double whole = std::max(width, x + 280);
  return element("svg",
                 {{"xmlns", "http://www.w3.org/2000/svg"},
                  {"viewBox", "0 0 " + at(whole) + " " + at(height)},
                  {"width", at(whole)},
                  {"height", at(height)},
                  {"font-family", "sans-serif"}},
                 element("rect", {{"width", at(whole)}, {"height", at(height)}, {"fill", "#fff"}}) + content)
      .text();
}

}  // namespace isobar::trains
