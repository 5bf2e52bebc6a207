// Curves with their bands, and dots for named things.
#include "charts.h"

namespace isobar::charts {
namespace {

using Ticks = std::vector<std::pair<double, std::string>>;

struct Label {
  const DrawnCurve* curve;
  double from, y;  // where its curve ends
  double at = 0;
};

constexpr double slant_height = 45, legend_line = 18;

// Infinity has a place, at the edge.
bool usable(double value, bool log) { return !std::isnan(value) && !(log && value <= 0); }

// The ends of all finite values; of none, 1.
std::pair<Ends, Ends> ends_of(const std::vector<DrawnCurve>& curves) {
  std::pair<Ends, Ends> ends;
  auto& [x, y] = ends;
  for (const DrawnCurve& curve : curves)
    for (const DrawnPoint& p : curve.points) {
      x.include(p.x);
      for (const double value : {p.low, p.y, p.high})
        if (std::isfinite(value)) y.include(value);
    }
  if (y.none()) y.include(1);
  return ends;
}

// Where a value is drawn: infinity at the edge, beyond all numbers.
double height_of(const Scale& y, double value) {
  return std::isinf(value) ? (value > 0 ? y.end : y.begin) : y(value);
}

bool any_infinite(const std::vector<DrawnCurve>& curves, double infinity) {
  return std::ranges::any_of(curves, [&](const DrawnCurve& curve) {
    return std::ranges::any_of(curve.points, [&](const DrawnPoint& p) {
      return p.low == infinity || p.y == infinity || p.high == infinity;
    });
  });
}

Ticks x_ticks(const Plot& plot, const std::vector<DrawnCurve>& curves, const Scale& x) {
  Ticks ticks;
  for (const std::string& name : plot.ticks) ticks.emplace_back(static_cast<double>(ticks.size()), name);
  if (!ticks.empty()) return ticks;
  bool whole = x.high - x.low <= 16 && std::abs(x.low) < 1e9;
  for (const DrawnCurve& curve : curves)
    for (const DrawnPoint& p : curve.points) whole = whole && p.x == std::round(p.x);
  for (double v = std::ceil(x.low); whole && v <= x.high; ++v) ticks.emplace_back(v, tick_text(v));
  if (ticks.empty())
    for (const double v : x.ticks(x.end - x.begin < 400 ? 4 : 7)) ticks.emplace_back(v, tick_text(v));
  return ticks;
}

Markup axes(const Plot& plot, const std::vector<DrawnCurve>& curves, const Scale& x, const Scale& y,
            double left, double right, double height, const Ticks& ticks, bool slanted) {
  Markup svg;
  for (const double infinity : {HUGE_VAL, -HUGE_VAL})
    if (any_infinite(curves, infinity))
      svg += words("tick", left - 7, height_of(y, infinity) + 4, "end", number(infinity));
  for (const double v : y.ticks(5)) {
    svg += path("grid", "M" + at(left) + " " + at(y(v)) + "H" + at(right));
    svg += words("tick", left - 7, y(v) + 4, "end", tick_text(v));
  }
  for (const auto& [value, text] : ticks) {
    const std::string place = at(x(value)), turn = "rotate(-35 " + place + " " + at(y.begin + 12) + ")";
    Attributes attributes = {{"class", "tick"}, {"x", place}, {"y", at(y.begin + 17)}};
    attributes.emplace_back("text-anchor", slanted ? "end" : "middle");
    if (slanted) attributes.emplace_back("transform", turn);
    svg += element("text", attributes, Markup(text));
  }
  svg += words("axis", (left + right) / 2, height - 5, "middle", plot.x);
  svg += words("axis", 4, 13, "", plot.y);
  return svg;
}

// What a reader may hide with the run that it is of.
Markup of_run(const DrawnCurve& curve, const Markup& content, const char* kind = "named") {
  return element("g", with({{"class", kind}}, "data-run", curve.curve->run), content);
}

// Labels at the right ends of curves, moved apart where they would touch.
Markup end_labels(std::vector<Label> labels, double x, double top, double bottom) {
  std::ranges::stable_sort(labels, {}, &Label::y);
  const double height =
      std::min(15.0, (bottom - top) / static_cast<double>(std::max<size_t>(labels.size(), 1)));
  for (double free = top; Label & label : labels) {
    label.at = std::max(label.y, free);
    free = label.at + height;
  }
  double limit = bottom;
  for (size_t i = labels.size(); i-- > 0; limit = labels[i].at - height)
    labels[i].at = std::min(labels[i].at, limit);
  Markup svg;
  for (const Label& label : labels) {
    Markup both = path("leader", through({{label.from + 3, label.y}, {x - 3, label.at}}), label.curve->style);
    both += words("name", x, label.at + 4, "", label.curve->curve->label, label.curve->style);
    svg += of_run(*label.curve, both);
  }
  return svg;
}

Markup drawn(const DrawnCurve& curve, const Scale& x, const Scale& y) {
  Markup svg;
  const auto line = [&](double DrawnPoint::*value) {
    std::vector<std::pair<double, double>> places;
    for (const DrawnPoint& p : curve.points) places.emplace_back(x(p.x), height_of(y, p.*value));
    return places;
  };
  const Role role = curve.curve->role;
  if (curve.joined && curve.band) {
    std::vector<std::pair<double, double>> around = line(&DrawnPoint::high), below = line(&DrawnPoint::low);
    around.insert(around.end(), below.rbegin(), below.rend());
    svg += path("band", through(around) + "z", curve.style);
  }
  if (curve.joined)
    svg +=
        path(role == Role::theory ? "joined theory" : "joined", through(line(&DrawnPoint::y)), curve.style);
  for (const DrawnPoint& p : curve.points) {
    const double level = height_of(y, p.y);
    if (role == Role::printed) svg += diamond(x(p.x), level);
    if (std::isinf(p.y)) svg += arrow(x(p.x), level, p.y > 0, curve.style);
    if (role != Role::measured || (curve.joined && curve.points.size() > 12)) continue;
    if (!curve.joined && curve.band)
      svg += path("range", through({{x(p.x), height_of(y, p.low)}, {x(p.x), height_of(y, p.high)}}),
                  curve.style);
    if (std::isfinite(p.y)) svg += dot(x(p.x), level, curve.joined ? 3 : 4, curve.style);
  }
  return of_run(curve, svg, "curve");
}

// The names of curves in lines below the chart, which becomes higher.
Markup legend(const std::vector<DrawnCurve>& curves, double width, double& height) {
  Markup svg;
  double x = 4;
  height += legend_line;
  for (const DrawnCurve& curve : curves) {
    const double room = width_of(curve.curve->label) + 32;
    if (x > 4 && x + room > width) {
      x = 4;
      height += legend_line;
    }
    svg += of_run(curve, words("name", x, height - 6, "", "● " + curve.curve->label, curve.style));
    x += room;
  }
  return svg;
}

Phrase described(const Plot& plot, const std::vector<DrawnCurve>& curves) {
  std::vector<Phrase> ends;
  for (size_t i = 0; i < std::min<size_t>(curves.size(), 6); ++i) {
    const std::vector<DrawnPoint>& points = curves[i].points;
    const std::string last = points.size() > 1 ? " … " + number(points.back().y) : "";
    ends.push_back(curves[i].curve->label + ": " + number(points.front().y) + last);
  }
  return plot.title + ". " + plot.x + ", " + plot.y + ". " + joined(ends, "; ");
}

}  // namespace

std::vector<DrawnCurve> drawn_curves(const Plot& plot) {
  const bool named = !plot.ticks.empty();
  const auto measured = std::ranges::count(plot.curves, Role::measured, &PlotCurve::role);
  std::vector<DrawnCurve> curves;
  int index = 0;
  for (const PlotCurve& curve : plot.curves) {
    const bool own = curve.role == Role::measured, theory = curve.role == Role::theory;
    const double aside = own && named ? 0.12 * (index - static_cast<double>(measured - 1) / 2) : 0;
    const int colour = curve.colour < 0 && own && measured > 1 ? index : curve.colour;
    const std::string name = colour >= 0 ? "c" + std::to_string(colour % 12)
                             : own       ? "measured"
                             : theory    ? "theory"
                                         : "printed";
    DrawnCurve drawn{&curve, {}, "--c:var(--" + name + ")", aside, theory || (own && !named), false};
    for (size_t i = 0; i < curve.y.size(); ++i) {
      const double y = curve.y[i];
      if (!usable(y, plot.log) || !std::isfinite(curve.x[i])) continue;
      const auto bound = [&](const std::vector<double>& bounds) {
        return !bounds.empty() && usable(bounds[i], plot.log) ? bounds[i] : y;
      };
      drawn.points.push_back({curve.x[i] + aside, bound(curve.low), y, bound(curve.high)});
      drawn.band = drawn.band || drawn.points.back().low != drawn.points.back().high;
    }
    if (!drawn.points.empty()) curves.push_back(std::move(drawn));
    index += own;
  }
  std::ranges::stable_sort(curves, {}, [](const DrawnCurve& drawn) { return drawn.curve->role; });
  return curves;
}

Drawing line_chart(const Plot& plot, const Look& look) {
  const std::vector<DrawnCurve> curves = drawn_curves(plot);
  if (curves.empty()) return {};
  const double width = look.width, names = static_cast<double>(plot.ticks.size());
  const bool labelled = look.labelled && width > 520;
  double name_room = 0, left = 20;
  for (const DrawnCurve& curve : curves) name_room = std::max(name_room, width_of(curve.curve->label) + 22);
  const bool beside = name_room < width * 0.42;  // else the names stand below
  const auto [across, up] = ends_of(curves);
  // Infinity's edge lies beyond the highest tick.
  const double share = any_infinite(curves, HUGE_VAL) || any_infinite(curves, -HUGE_VAL) ? 0.12 : 0.06;
  const double pad = plot.log ? std::pow(up.high / up.low, share) : (up.high - up.low) * share;
  const Scale y(plot.log ? up.low / pad : up.low - pad, plot.log ? up.high * pad : up.high + pad,
                look.height - 40, 26, plot.log);
  for (const double v : y.ticks(5)) left = std::max(left, text_width(tick_text(v)));
  left += 12;
  const double right = width - (beside ? name_room : 14), inset = names > 0 ? 0 : labelled ? 24 : 10;
  const Scale x(names > 0 ? -0.5 : across.low, names > 0 ? names - 0.5 : across.high, left + inset,
                right - inset);
  const bool slanted = std::any_of(plot.ticks.begin(), plot.ticks.end(), [&](const std::string& name) {
    return text_width(name) > (right - left) / names - 6;
  });
  double height = look.height + (slanted ? slant_height : 0);

  Markup svg = axes(plot, curves, x, y, left, right, height, x_ticks(plot, curves, x), slanted);
  std::vector<Label> labels;
  for (const DrawnCurve& curve : curves) {
    svg += drawn(curve, x, y);
    // Printed values stand at their points and, where there is room, the name at the first.
    const bool printed = curve.curve->role == Role::printed, own = printed && labelled && width > 800;
    for (size_t i = 0; printed && labelled && i < curve.points.size(); ++i) {
      const double place = x(curve.points[i].x), level = height_of(y, curve.points[i].y);
      const std::string value = plain(curve.points[i].y);
      svg += own && i == 0
                 ? words("name", place + 10, level + 4, "", value + " " + curve.curve->label, curve.style)
                 : words("name", place, level - 11, "middle", value, curve.style);
    }
    const DrawnPoint& end = curve.points.back();
    if (!own) labels.push_back({&curve, x(end.x) + (printed ? 4 : 0), height_of(y, end.y)});
  }
  svg += beside ? end_labels(std::move(labels), right + 12, y.end, y.begin) : legend(curves, width, height);
  svg += path("rule", "");
  return {"chart",
          width,
          height,
          described(plot, curves),
          svg,
          {{"data-x", exact(x.low) + " " + exact(x.high) + " " + at(x.begin) + " " + at(x.end)},
           {"data-y", at(y.end) + " " + at(y.begin)}}};
}

Drawing spark(const Plot& plot) {
  const std::vector<DrawnCurve> curves = drawn_curves(plot);
  if (curves.empty()) return {};
  constexpr double width = 210, height = 56;
  const auto [across, up] = ends_of(curves);
  const Scale x(across.low, across.high, 40, width - 6), y(up.low, up.high, height - 6, 6, plot.log);
  const auto end = [](double v) {
    return v >= 1e-3 && v < 1e4 ? number(v, 1) : number(std::pow(10, std::round(std::log10(v))), 1);
  };
  Markup svg = path("line", "M36 4V" + at(height - 4));
  svg += words("tick", 33, 13, "end", end(y.high));
  svg += words("tick", 33, height - 3, "end", end(y.low));
  for (const DrawnCurve& curve : curves) svg += drawn(curve, x, y);
  return {"strip", width, height, described(plot, curves), svg};
}

}  // namespace isobar::charts
