#include "shapes.h"

#include <cstdio>
#include <cstdlib>

#include "../../../data/utf8_stream.h"
#include "charts.h"

namespace isobar::charts {
namespace {

double power_of_ten(double power) {  // correctly rounded, which std::pow need not be
  return std::strtod(("1e" + std::to_string(std::lround(std::clamp(power, -400.0, 400.0)))).c_str(), nullptr);
}

double rounded(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  return std::strtod(text, nullptr);
}

// The fewest digits that give this number again, without an exponent.
std::string shortest(double value) {
  char text[800];
  for (int digits = 0; digits < 400; ++digits) {
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  return text;
}

std::string with_minus(const std::string& text) { return text[0] == '-' ? "−" + text.substr(1) : text; }

std::string raised(int power) {
  constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = power < 0 ? "10⁻" : "10";
  for (const char c : std::to_string(std::abs(power))) text += digits[c - '0'];
  return text;
}

// Factors times the powers of ten from `low` to `high`.
std::vector<double> decades(double low, double high, const std::vector<int>& factors) {
  std::vector<double> numbers;
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int power = static_cast<int>(std::floor(std::log10(low))); power <= last; ++power)
    for (const int factor : factors) {
      const double value = factor * power_of_ten(power);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) numbers.push_back(rounded(value, 12));
    }
  return numbers;
}

std::vector<double> every(size_t stride, const std::vector<double>& numbers) {
  std::vector<double> some;
  for (size_t i = 0; i < numbers.size(); i += stride) some.push_back(numbers[i]);
  return some;
}

}  // namespace

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
  attributes = with(std::move(attributes), "data-zh", label.one() ? "" : label.zh);
  attributes.insert(attributes.end(), data.begin(), data.end());
  return element("svg", attributes, content);
}

Markup path(const char* kind, const std::string& d, const std::string& style) {
  return element("path", with({{"class", kind}, {"d", d}}, "style", style));
}

Markup words(const char* kind, double x, double y, const char* anchor, const Phrase& text,
             const std::string& style) {
  const Attributes attributes = with({{"class", kind}, {"x", at(x)}, {"y", at(y)}}, "text-anchor", anchor);
  return element("text", with(attributes, "style", style), Markup(text));
}

std::string box(double x, double y, double width, double height) {
  return "M" + at(x) + " " + at(y) + "h" + at(width) + "v" + at(height) + "h" + at(-width) + "z";
}

Markup dot(double x, double y, double radius, const std::string& style) {
  return element("circle", with({{"class", "measured"}, {"cx", at(x)}, {"cy", at(y)}, {"r", at(radius)}},
                                "style", style));
}

Markup diamond(double x, double y) {
  return path("printed", "M" + at(x) + " " + at(y - 5) + "l5 5l-5 5l-5-5z");
}

Markup arrow(double x, double y, bool up, const std::string& style) {
  const double tip = up ? -4 : 4;
  return path("beyond", "M" + at(x) + " " + at(y + tip) + "l4.5 " + at(-2 * tip) + "h-9z", style);
}

double width_of(const Phrase& phrase) { return std::max(text_width(phrase.en), text_width(phrase.zh)); }

Phrase joined(const std::vector<Phrase>& parts, const char* between) {
  Phrase all;
  for (const Phrase& part : parts) all = all + (&part == parts.data() ? "" : between) + part;
  return all;
}

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

Attributes with(Attributes attributes, const char* name, const std::string& value) {
  if (!value.empty()) attributes.emplace_back(name, value);
  return attributes;
}

Scale::Scale(double from, double to, double first, double last, bool log)
    : low(from), high(to), begin(first), end(last), logarithmic(log) {
  if (low < high) return;
  low = log ? from / 2 : from - 0.5;
  high = log ? from * 2 : from + 0.5;
}

double Scale::operator()(double value) const {
  const auto f = [&](double v) { return logarithmic ? std::log(v) : v; };
  const double share = (f(value) - f(low)) / (f(high) - f(low));
  return begin + share * (end - begin);
}

std::vector<double> Scale::ticks(size_t count) const {
  if (logarithmic) {
    const std::vector<double> powers = decades(low, high, {1}), more = decades(low, high, {1, 2, 5});
    if (powers.size() + 1 >= std::min<size_t>(count, 4))
      return every((powers.size() + count - 1) / count, powers);
    if (more.size() >= 2) return every((more.size() + count) / (count + 1), more);
  }
  const double rough = (high - low) / static_cast<double>(count),
               unit = power_of_ten(std::floor(std::log10(rough)));
  double step = 10 * unit;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * unit >= rough * 0.7) step = factor * unit;
  std::vector<double> numbers;
  const double first = std::ceil(low / step - 1e-9);
  for (int i = 0; i < 3 * static_cast<int>(count) && (first + i) * step <= high + 1e-9 * step; ++i)
    numbers.push_back(rounded((first + i) * step, 12) + 0.0);  // not −0
  return numbers;
}

std::string number(double value, int digits) {
  const double size = std::abs(value);
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  if (value == 0) return "0";
  if (size < 1e7 && value == std::round(value)) return with_minus(shortest(value));
  if (size >= 1e-5 && size < 1e6) return with_minus(shortest(rounded(value, digits)));
  char text[40];
  std::snprintf(text, sizeof text, "%.*e", digits - 1, value);
  const std::string written = text,
                    mantissa = shortest(std::strtod(written.substr(0, written.find('e')).c_str(), nullptr)),
                    ten = raised(std::atoi(written.c_str() + written.find('e') + 1));
  return with_minus(mantissa == "1" ? ten : mantissa == "-1" ? "-" + ten : mantissa + "×" + ten);
}

std::string plain(double value) {
  return std::abs(value) < 1e-6 || !std::isfinite(value) ? number(value, 7) : with_minus(shortest(value));
}

std::string interval(double low, double high) { return "[" + number(low) + ", " + number(high) + "]"; }

std::string tick_text(double value) {
  const double size = std::abs(value);
  const bool written = size == 0 || (size >= 1e-4 && size < 1e5);
  return written ? with_minus(shortest(rounded(value, 6) + 0.0)) : number(value, 3);
}

double text_width(std::string_view text) {
  double width = 0;
  for (const char c : text)  // of a character of UTF-8 the first byte counts; from E3 on it is Chinese, about
    if ((c & 0xC0) != 0x80) width += static_cast<unsigned char>(c) >= 0xE3 ? 12.5 : 6.9;
  return width;
}

}  // namespace isobar::charts
