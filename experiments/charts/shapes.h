// Shapes: the pieces that all charts are made of.
#pragma once

#include <string>
#include <vector>

#include "markup.h"
#include "plot.h"

namespace isobar::charts {

// A pixel's tenth is enough: "12.5", "12".
std::string at(double pixels);
// With the digits that matter, for a script.
std::string exact(double value);
// "M1 2L3 4…" through these points.
std::string through(const std::vector<std::pair<double, double>>& points);
Markup path(const char* kind, const std::string& d, const std::string& style = "");
// `anchor`: "middle", "end", or "": at the start.
Markup words(const char* kind, double x, double y, const char* anchor, const Phrase& text,
             const std::string& style = "");
std::string box(double x, double y, double width, double height);  // the "d" of a path
Markup dot(double x, double y, double radius, const std::string& style = "");
Markup diamond(double x, double y);
double width_of(const Phrase& phrase);
Phrase joined(const std::vector<Phrase>& parts, const char* between);

}  // namespace isobar::charts
