// Shapes: the pieces that all charts are made of.
#pragma once

#include <algorithm>
#include <cmath>
#include <string_view>

#include "plot.h"

namespace isobar::charts {

// Markup: a piece of HTML or SVG. A text becomes one by escaping alone, in content and in attributes
// alike, so that no word of a stranger's file is a tag, an attribute or a script.
//
//   Markup svg = element("path", {{"class", colour}, {"d", line}});
//   svg += element("text", {{"x", "8"}}, Markup(label));
//   write(svg.text());

using Attributes = std::vector<std::pair<const char*, std::string>>;

class Markup {
 public:
  Markup() = default;
  // The text as a reader sees it. Control characters and direction marks become "�".
  explicit Markup(const std::string& text);
  // In both languages where they differ: the style sheet shows that of the page.
  explicit Markup(const Phrase& phrase, const char* tag = "tspan");
  // What stands in this program is markup already.
  static Markup literal(std::string_view text);
  Markup& operator+=(const Markup& more);
  friend Markup operator+(Markup first, const Markup& more) { return first += more; }
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  friend Markup element(const char* tag, const Attributes& attributes, const Markup& content);
  std::string text_;
};

// <tag name="value" …>content</tag>, or <path …/> of a shape, and an end of line.
Markup element(const char* tag, const Attributes& attributes, const Markup& content = {});
// And one more attribute, unless it is empty.
Attributes with(Attributes attributes, const char* name, const std::string& value);

// --- Scale: numbers to places of a picture, the round numbers beside it, and how numbers are written.

// The least and the greatest of some numbers.
struct Ends {
  double low = HUGE_VAL, high = -HUGE_VAL;

  void include(double value) { low = std::min(low, value), high = std::max(high, value); }
  bool none() const { return low > high; }
};

class Scale {
 public:
  // From `low` to `high`, drawn at `begin` and `end`; logarithmic ones positive. One number is in the middle.
  Scale(double low, double high, double begin, double end, bool logarithmic = false);

  double operator()(double value) const;
  // About `count` multiples of 1, 2 or 5 powers of ten; logarithmic ones: powers of ten, and 2 and 5 if few.
  std::vector<double> ticks(size_t count) const;

  double low, high, begin, end;
  bool logarithmic;
};

// In so many significant digits, without zeros at the end: "0.3387", "−1.2", "2.4×10⁻⁷", "∞".
std::string number(double value, int digits = 4);
// With all its digits: "0.000012", "10⁻¹⁰".
std::string plain(double value);
// "0.3387 [0.33, 0.35]" or "[0.33, 0.35]"
std::string interval(double low, double high);
// As it stands at an axis.
std::string tick_text(double value);
// Pixels that a text of 12 pixels takes, about; a Chinese character is twice as wide.
double text_width(std::string_view text);

// --- Shapes.

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
// Says that a value lies beyond the edge: a triangle that points up or down.
Markup arrow(double x, double y, bool up, const std::string& style = "");
double width_of(const Phrase& phrase);
Phrase joined(const std::vector<Phrase>& parts, const char* between);

}  // namespace isobar::charts
