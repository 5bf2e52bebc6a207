#include "figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "../../core/error.h"
#include "../harness/terminal.h"
#include "axis.h"
#include "markup.h"

namespace isobar::report {
namespace {

// Pixels of a picture as wide as a README.
constexpr double width = 760, left = 78, right = 20, top = 44, plot_height = 270, line_height = 20;

// One colour for each meaning, as in style.css.
constexpr char style[] = R"(
text{fill:#1b1f24;font:13px system-ui,"Noto Sans CJK SC",sans-serif}.title{font-size:15px;font-weight:600}
.ground{fill:#fff}.grid{stroke:#d5dae0}.small{fill:#5b636d;font-size:12px}
.curve,.range,.key{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round}.band{fill:var(--c);opacity:.16}
.dots{stroke-width:8;stroke-linecap:round}.dash{stroke-dasharray:7 4}
.c0{--c:#0b5fc0}.c1{--c:#b45309}.c2{--c:#15803d}.c3{--c:#7c3aed}.c4{--c:#be123c}.c5{--c:#0e7490}.c6{--c:#8a6100}
.c7{--c:#4d7c0f}.theory{--c:#1b1f24}.printed{--c:#b5127d}
@media(prefers-color-scheme:dark){text{fill:#e8eaed}.ground{fill:#14171b}.grid{stroke:#363c44}.small{fill:#a2abb5}
.c0{--c:#6cb0ff}.c1{--c:#ffa860}.c2{--c:#56d364}.c3{--c:#b99cff}.c4{--c:#ff8a9a}.c5{--c:#4fd1e0}.c6{--c:#e3b341}
.c7{--c:#a9d86e}.theory{--c:#e6e8eb}.printed{--c:#ff7fc8}}
)";

struct Point {
  double x, low, y, high;
};

struct Curve {
  std::string label, colour;  // "c3", "theory", "printed"
  bool dashed, dots;
  std::vector<Point> points;
};

std::optional<double> usable(const Json& number, bool log) {
  if (!number.is_number()) return {};
  const double value = number.get<double>();
  if (!std::isfinite(value) || (log && value <= 0)) return {};
  return value;
}

// The curve's points that can be drawn; a bound that cannot is the value itself.
std::vector<Point> points_of(const Json& curve, bool log, double aside) {
  std::vector<Point> points;
  for (const Json& point : curve.at("points")) {
    const auto y = usable(point.at(2), log);
    if (y)
      points.push_back({point.at(0).get<double>() + aside, usable(point.at(1), log).value_or(*y), *y,
                        usable(point.at(3), log).value_or(*y)});
  }
  return points;
}

std::vector<Curve> curves_of(const Json& plot) {
  const Json& given = plot.at("curves");
  const auto count = [&](const std::string& role) {
    return std::count_if(given.begin(), given.end(),
                         [&](const Json& curve) { return curve.at("role") == role; });
  };
  const bool named = !plot.at("ticks").empty(), log = plot.at("log");
  const auto measured = static_cast<double>(count("measured"));
  std::vector<Curve> curves;
  double beside = -(measured - 1) / 2;  // where x counts things, curves stand beside each other
  for (const Json& curve : given) {
    const std::string role = curve.at("role"), label = curve.at("label");
    const bool own = role == "measured" || count(role) > 1;
    const size_t number = curve.value("colour", curves.size()) % 8;
    const bool dots = role == "printed" || (named && role == "measured");
    curves.push_back({.label = role == "measured" || label == role ? label : role + " " + label,
                      .colour = curve.contains("colour") || own ? fmt::format("c{}", number) : role,
                      .dashed = role == "theory",
                      .dots = dots,
                      .points = points_of(curve, log, named && role == "measured" ? 0.14 * beside++ : 0)});
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.points.empty(); });
  return curves;
}

// "x,y x,y …" for each point's `value`, in order or backwards.
std::string line_through(const std::vector<Point>& points, double Point::*value, const Axis& x, const Axis& y,
                         bool backwards = false) {
  std::string text;
  for (size_t i = 0; i < points.size(); ++i) {
    const Point& point = points[backwards ? points.size() - 1 - i : i];
    text += fmt::format("{}{:.1f},{:.1f}", i == 0 ? "" : " ", x.place(point.x), y.place(point.*value));
  }
  return text;
}

Markup drawn(const Curve& curve, const Axis& x, const Axis& y) {
  Markup svg;
  const bool band = std::any_of(curve.points.begin(), curve.points.end(),
                                [](const Point& p) { return p.low != p.y || p.high != p.y; });
  if (curve.dots) {
    std::string ranges, dots;
    for (const Point& p : curve.points) {
      if (band) ranges += fmt::format("M{:.1f} {:.1f}V{:.1f}", x.place(p.x), y.place(p.low), y.place(p.high));
      dots += fmt::format("M{:.1f} {:.1f}h0", x.place(p.x), y.place(p.y));
    }
    if (band) svg += element("path", {{"class", "range " + curve.colour}, {"d", ranges}});
    svg += element("path", {{"class", "curve dots " + curve.colour}, {"d", dots}});
    return svg;
  }
  if (band)
    svg += element("polygon", {{"class", "band " + curve.colour},
                               {"points", line_through(curve.points, &Point::low, x, y) + " " +
                                              line_through(curve.points, &Point::high, x, y, true)}});
  svg += element("polyline", {{"class", (curve.dashed ? "curve dash " : "curve ") + curve.colour},
                              {"points", line_through(curve.points, &Point::y, x, y)}});
  return svg;
}

Markup text(double x, double y, Attributes attributes, const std::string& words) {
  attributes.insert(attributes.begin(), {{"x", fmt::format("{:.1f}", x)}, {"y", fmt::format("{:.1f}", y)}});
  return element("text", attributes, Markup(words));
}

Markup grid(const Json& plot, const Axis& x, const Axis& y) {
  constexpr double bottom = top + plot_height;
  const Attributes middle = {{"text-anchor", "middle"}};
  Markup svg;
  for (const auto& [number, label] : y.ticks()) {
    const double at = y.place(number);
    svg += element("path", {{"class", "grid"}, {"d", fmt::format("M{} {:.1f}H{}", left, at, width - right)}});
    svg += text(left - 8, at + 4, {{"class", "small"}, {"text-anchor", "end"}}, label);
  }
  std::vector<std::pair<double, std::string>> ticks = x.ticks();
  if (const Json& names = plot.at("ticks"); !names.empty()) {
    ticks.clear();
    for (const Json& name : names)
      ticks.emplace_back(static_cast<double>(ticks.size()), name.get<std::string>());
  }
  // A net's name, "pre.rmsnorm", takes two lines: one would run into its neighbours.
  double name = bottom + 38;
  for (const auto& [number, label] : ticks) {
    const size_t dot = plot.at("ticks").empty() ? std::string::npos : label.find('.');
    const size_t first = std::min(dot, label.size() - 1) + 1;
    const Attributes rest = {{"class", "small"}, {"text-anchor", "middle"}};
    svg += text(x.place(number), bottom + 18, rest, label.substr(0, first));
    if (first == label.size()) continue;
    svg += text(x.place(number), bottom + 31, rest, label.substr(first));
    name = bottom + 47;
  }
  svg += text((left + width - right) / 2, name, middle, plot.at("x"));
  const std::string turned = fmt::format("translate(18 {}) rotate(-90)", top + plot_height / 2);
  svg += element("g", {{"transform", turned}}, text(0, 0, middle, plot.at("y")));
  return svg;
}

// A sample and the label of each curve, in as many lines as it takes. Moves `y` to the last of them.
Markup legend(const std::vector<Curve>& curves, double& y) {
  Markup svg;
  double x = left;
  for (const Curve& curve : curves) {
    const double room = 46 + 7.2 * static_cast<double>(display_width(curve.label));
    if (x > left && x + room > width) {
      x = left;
      y += line_height;
    }
    const char* const key = curve.dots ? "key dots " : curve.dashed ? "key dash " : "key ";
    svg += element(
        "path",
        {{"class", key + curve.colour},
         {"d", fmt::format("M{:.1f} {:.1f}h{}", curve.dots ? x + 12 : x, y - 4, curve.dots ? 0 : 24)}});
    svg += text(x + 30, y, {{"class", "small"}}, curve.label);
    x += room;
  }
  return svg;
}

}  // namespace

std::string figure_svg(const Json& plot) {
  const std::vector<Curve> curves = curves_of(plot);
  const bool log = plot.at("log");
  constexpr double infinity = HUGE_VAL;
  double x_low = infinity, x_high = -infinity, y_low = infinity, y_high = -infinity;
  for (const Curve& curve : curves)
    for (const Point& p : curve.points) {
      x_low = std::min(x_low, p.x);
      x_high = std::max(x_high, p.x);
      y_low = std::min(y_low, p.low);
      y_high = std::max(y_high, p.high);
    }
  const std::string title = plot.at("title");
  check(x_low < infinity, "plot '{}': no point can be drawn", title);
  const double margin = log ? std::pow(y_high / y_low, 0.04) : (y_high - y_low) * 0.04;
  if (const size_t names = plot.at("ticks").size(); names > 0) {
    x_low = -0.5;
    x_high = static_cast<double>(names) - 0.5;
  }
  const Axis x(x_low, x_high, left, width - right, false);
  const Axis y(log ? y_low / margin : y_low - margin, log ? y_high * margin : y_high + margin,
               top + plot_height, top, log);

  Markup content = text(left, 24, {{"class", "title"}}, title);
  content += grid(plot, x, y);
  for (const Curve& curve : curves) content += drawn(curve, x, y);
  double height = top + plot_height + 64;
  content += legend(curves, height);
  height += 14;
  const std::string w = fmt::format("{}", width), h = fmt::format("{}", height);
  Markup body = Markup::literal("\n");
  body += element("title", {}, Markup(title));
  body += element("style", {}, Markup::literal(style));
  body += element("rect", {{"class", "ground"}, {"width", w}, {"height", h}});
  body += content;
  const Attributes attributes = {{"xmlns", "http://www.w3.org/2000/svg"},
                                 {"viewBox", fmt::format("0 0 {} {}", w, h)},
                                 {"width", w},
                                 {"height", h},
                                 {"role", "img"}};
  return element("svg", attributes, body).text();
}

}  // namespace isobar::report
