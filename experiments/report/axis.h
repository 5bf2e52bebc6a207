// Axis: numbers to places of a picture, and the round numbers to write beside it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace isobar::report {

class Axis {
 public:
  // From `low` to `high`, which are drawn at `begin` and `end`; logarithmic ones hold positive numbers alone.
  Axis(double low, double high, double begin, double end, bool logarithmic);

  double place(double value) const;
  // About five: multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis powers of ten, or where
  // there are fewer than two of these, 2 and 5 times them too.
  std::vector<std::pair<double, std::string>> ticks() const;

 private:
  std::vector<double> round_numbers() const;

  double low_, high_, begin_, end_;
  bool logarithmic_;
};

}  // namespace isobar::report
