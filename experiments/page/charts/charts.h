// Charts as SVG text: data in, text out, and nothing else. They need no script and no more than the standard
// library, so that a browser can draw them too, compiled. Colours and fonts are in charts.css; a text in two
// languages is both, and the style sheet shows one. One without content: there was nothing to draw.
//
//   const std::string svg = charts::svg(charts::line_chart(plot, {.width = 640})).text();
//
// A script finds a place by data-x="from to left right" and data-y="top bottom", in numbers and in pixels.
#pragma once

#include <optional>

#include "shapes.h"

namespace isobar::charts {

struct Drawing {
  std::string kind;  // its class
  double width = 0, height = 0;
  Phrase label;  // says it to who cannot see it
  Markup content = {};
  Attributes data = {};
};
Markup svg(const Drawing& drawing);

struct Look {
  double width = 640, height = 300;  // in pixels; names that need room make it higher
  bool labelled = false;             // printed values stand at their points
};

// The curves as they are drawn: without points that have no place, such as NaN, or zero on a logarithmic scale.
// Infinities are among them; they are drawn at the edge.
struct DrawnPoint {
  double x, low, y, high;  // low = y = high: no band
};
struct DrawnCurve {
  const PlotCurve* curve;
  std::vector<DrawnPoint> points;
  std::string style;  // its colour
  double aside;       // where x counts things, curves stand beside each other
  bool joined, band;
};
std::vector<DrawnCurve> drawn_curves(const Plot& plot);

Drawing line_chart(const Plot& plot, const Look& look);
// The same as small as a word, for a row of a table.
Drawing spark(const Plot& plot);

Drawing heat_map(const Heatmap& map, const Look& look);
Drawing ridge_chart(const Ridges& ridges, const Look& look);

// One value on one axis: the zone that is asked for, the measured interval, the theory, the printed point.
// An infinite value is an arrow at the axis's end.
struct Strip {
  Phrase label;
  std::optional<double> value = {}, theory = {}, printed = {}, low = {}, high = {};  // low, high: of the zone
  std::optional<std::pair<double, double>> interval = {};
  bool log = false;  // even where the values are close to each other
};
Drawing strip(const Strip& strip);

// One value on the rungs of a ladder, against the zone that is asked for.
struct Rungs {
  Phrase label, name;  // what it says; what climbs
  std::vector<DrawnPoint> points = {};
  Phrase first = {}, last = {};               // the names of the lowest rung and of the highest
  std::optional<double> low = {}, high = {};  // of the zone
  bool log = false;
};
Drawing rungs(const Rungs& rungs);

}  // namespace isobar::charts
