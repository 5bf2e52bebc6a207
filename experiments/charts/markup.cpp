#include "markup.h"

#include "../../data/utf8_stream.h"

namespace isobar::charts {

Markup::Markup(const std::string& text) {
  for (const char c : printable(text))
    text_ += c == '&'   ? "&amp;"
             : c == '<' ? "&lt;"
             : c == '>' ? "&gt;"
             : c == '"' ? "&quot;"
                        : std::string(1, c);
}

Markup::Markup(const Phrase& phrase, const char* tag) {
  *this = Markup(phrase.en);
  if (phrase.one()) return;
  *this = element(tag, {{"class", "en"}}, *this);
  *this += element(tag, {{"class", "zh"}}, Markup(phrase.zh));
}

Markup Markup::literal(std::string_view text) {
  Markup markup;
  markup.text_ = text;
  return markup;
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
  const std::string_view name = tag;  // HTML closes no element by "/>"
  const bool shape = name == "path" || name == "rect" || name == "circle";
  markup.text_ += shape ? "/>" : ">" + content.text_ + "</" + tag + ">";
  if (!name.ends_with("span")) markup.text_ += '\n';
  return markup;
}

}  // namespace isobar::charts
