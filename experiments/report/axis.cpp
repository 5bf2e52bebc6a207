#include "axis.h"

#include <fmt/format.h>

#include <cmath>

namespace isobar::report {
namespace {

std::vector<double> decades(double low, double high, const std::vector<double>& factors) {
  std::vector<double> numbers;
  for (int power = static_cast<int>(std::floor(std::log10(low))); std::pow(10, power) <= high; ++power)
    for (const double factor : factors) {
      const double number = factor * std::pow(10, power);
      if (number >= low * (1 - 1e-9) && number <= high * (1 + 1e-9)) numbers.push_back(number);
    }
  return numbers;
}

}  // namespace

Axis::Axis(double low, double high, double begin, double end, bool logarithmic)
    : low_(low), high_(high), begin_(begin), end_(end), logarithmic_(logarithmic) {
  if (low_ < high_) return;
  low_ = logarithmic ? low / 2 : low - 0.5;  // one number alone is in the middle
  high_ = logarithmic ? high * 2 : high + 0.5;
}

double Axis::place(double value) const {
  const double share =
      logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return begin_ + share * (end_ - begin_);
}

std::vector<double> Axis::round_numbers() const {
  if (logarithmic_) {
    const std::vector<double> powers = decades(low_, high_, {1});
    if (powers.size() < 2) return decades(low_, high_, {1, 2, 5});
    std::vector<double> some;
    const size_t stride = powers.size() / 7 + 1;
    for (size_t i = 0; i < powers.size(); i += stride) some.push_back(powers[i]);
    return some;
  }
  const double rough = (high_ - low_) / 5, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough / power < 1.5   ? 1
                               : rough / power < 3.5 ? 2
                               : rough / power < 7.5 ? 5
                                                     : 10);
  std::vector<double> numbers;
  for (double i = std::ceil(low_ / step - 1e-9); i * step <= high_ + 1e-9 * step; ++i)
    numbers.push_back(i * step + 0.0);  // not −0
  return numbers;
}

std::vector<std::pair<double, std::string>> Axis::ticks() const {
  std::vector<std::pair<double, std::string>> result;
  for (const double number : round_numbers()) result.emplace_back(number, fmt::format("{:.4g}", number));
  return result;
}

}  // namespace isobar::report
