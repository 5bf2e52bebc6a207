// Markup: a piece of HTML or SVG. A text becomes one by escaping alone, in content and in attributes alike,
// so that no word of a stranger's file is a tag, an attribute or a script.
//
//   Markup svg = element("path", {{"class", colour}, {"d", line}});
//   svg += element("text", {{"x", "8"}}, Markup(label));
//   write(svg.text());
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plot.h"

namespace isobar::charts {

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

}  // namespace isobar::charts
