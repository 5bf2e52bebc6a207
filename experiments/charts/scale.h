// Scale: numbers to places of a picture, the round numbers beside it, and how numbers are written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isobar::charts {

class Scale {
 public:
  // From `low` to `high`, which are drawn at `begin` and `end`; logarithmic ones hold positive numbers alone.
  // One number alone is in the middle.
  Scale(double low, double high, double begin, double end, bool logarithmic = false);

  double operator()(double value) const;
  // About `count` multiples of 1, 2 or 5 times a power of ten; on a logarithmic scale powers of ten, or,
  // where there are few of them, 2 and 5 times them too.
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

}  // namespace isobar::charts
