#include "markup.h"

#include "../../data/utf8_stream.h"

namespace isobar::report {

Markup::Markup(const std::string& text) {
  for (const char c : printable(text))
    text_ += c == '&'   ? "&amp;"
             : c == '<' ? "&lt;"
             : c == '>' ? "&gt;"
             : c == '"' ? "&quot;"
                        : std::string(1, c);
}

Markup& Markup::operator+=(const Markup& more) {
  text_ += more.text_;
  return *this;
}

Markup element(const char* tag, const Attributes& attributes, const Markup& content) {
  Markup markup;
  markup.text_ = std::string("<") + tag;
  for (const auto& [name, value] : attributes)
    markup.text_ += std::string(" ") + name + "=\"" + Markup(value).text_ + "\"";
  markup.text_ += content.text_.empty() ? std::string("/>\n") : ">" + content.text_ + "</" + tag + ">\n";
  return markup;
}

}  // namespace isobar::report
