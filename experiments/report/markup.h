// Markup: a piece of HTML or SVG. A text becomes one by escaping alone, in content and in attributes alike,
// so that no word of a stranger's file is a tag, an attribute or a script.
//
//   Markup svg = element("path", {{"class", colour}, {"d", line}});
//   svg += element("text", {{"x", "8"}}, Markup(label));
//   write(svg.text());
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isobar::report {

using Attributes = std::vector<std::pair<const char*, std::string>>;

class Markup {
 public:
  Markup() = default;
  // The text as a reader sees it. Control characters and direction marks become "�".
  explicit Markup(const std::string& text);
  // What stands in this program is markup already.
  template <size_t n>
  static Markup literal(const char (&text)[n]) {
    Markup markup;
    markup.text_ = text;
    return markup;
  }
  Markup& operator+=(const Markup& more);
  const std::string& text() const { return text_; }

 private:
  friend Markup element(const char* tag, const Attributes& attributes, const Markup& content);
  std::string text_;
};

// <tag name="value" …>content</tag>, or <tag …/> without content, and an end of line.
Markup element(const char* tag, const Attributes& attributes, const Markup& content = {});

}  // namespace isobar::report
