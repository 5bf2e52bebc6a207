#include "shapes.h"

#include <algorithm>
#include <cstdio>

#include "charts.h"
#include "scale.h"

namespace isobar::charts {

std::string at(double pixels) {
  char text[40];
  std::snprintf(text, sizeof text, "%.1f", pixels);
  std::string number = text;
  if (number.ends_with(".0")) number.resize(number.size() - 2);
  return number == "-0" ? "0" : number;
}

std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::string through(const std::vector<std::pair<double, double>>& points) {
  std::string d;
  for (const auto& [x, y] : points) d += (d.empty() ? "M" : "L") + at(x) + " " + at(y);
  return d;
}

Markup svg(const Drawing& drawing) {
  if (drawing.content.empty()) return {};
  const auto& [kind, width, height, label, content, data] = drawing;
  Attributes attributes = {{"class", kind},
                           {"viewBox", "0 0 " + at(width) + " " + at(height)},
                           {"role", "img"},
                           {"aria-label", label.en}};
  if (!label.one()) attributes.emplace_back("data-zh", label.zh);
  attributes.insert(attributes.end(), data.begin(), data.end());
  return element("svg", attributes, content);
}

Markup path(const char* kind, const std::string& d, const std::string& style) {
  Attributes attributes = {{"class", kind}, {"d", d}};
  if (!style.empty()) attributes.emplace_back("style", style);
  return element("path", attributes);
}

Markup words(const char* kind, double x, double y, const char* anchor, const Phrase& text,
             const std::string& style) {
  Attributes attributes = {{"class", kind}, {"x", at(x)}, {"y", at(y)}};
  if (anchor != std::string()) attributes.emplace_back("text-anchor", anchor);
  if (!style.empty()) attributes.emplace_back("style", style);
  return element("text", attributes, Markup(text));
}

std::string box(double x, double y, double width, double height) {
  return "M" + at(x) + " " + at(y) + "h" + at(width) + "v" + at(height) + "h" + at(-width) + "z";
}

Markup dot(double x, double y, double radius, const std::string& style) {
  Attributes attributes = {{"class", "measured"}, {"cx", at(x)}, {"cy", at(y)}, {"r", at(radius)}};
  if (!style.empty()) attributes.emplace_back("style", style);
  return element("circle", attributes);
}

Markup diamond(double x, double y) {
  return path("printed", "M" + at(x) + " " + at(y - 5) + "l5 5l-5 5l-5-5z");
}

double width_of(const Phrase& phrase) { return std::max(text_width(phrase.en), text_width(phrase.zh)); }

Phrase joined(const std::vector<Phrase>& parts, const char* between) {
  Phrase all;
  for (const Phrase& part : parts) all = all + (&part == parts.data() ? "" : between) + part;
  return all;
}

}  // namespace isobar::charts
