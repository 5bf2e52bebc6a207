#include "agreement.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "../harness/stats.h"

namespace isobar::decay {
namespace {

// Of the logarithms of the positive finite values; 0 for fewer than two.
double log_sd(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values)
    if (value > 0 && std::isfinite(value)) logs.push_back(std::log(value));
  const auto count = static_cast<double>(logs.size());
  double sum = 0, squares = 0;
  for (const double log : logs) sum += log;
  for (const double log : logs) squares += (log - sum / count) * (log - sum / count);
  return logs.size() < 2 ? 0 : std::sqrt(squares / (count - 1));
}

}  // namespace

Agreement agreement_of(const Prediction& theory, std::span<const double> values) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Spread spread = spread_of(values);
  if (2 * spread.nonfinite > std::ssize(values))
    return {none, theory.median > std::numeric_limits<float>::max()};
  if (spread.median == 0) return {none, theory.median < std::numeric_limits<float>::min()};

  const double sd = std::fmax(log_sd(values), theory.log_sd);
  const double error = std::sqrt(std::numbers::pi / 2) * sd / std::sqrt(static_cast<double>(values.size()));
  const double z = std::log(spread.median / theory.median) / error;
  return {z, std::abs(z) <= 3};
}

void Agreements::add(const Agreement& agreement, const std::string& name) {
  ++(std::isnan(agreement.z) ? out_of_range : with_z);
  if (!agreement.agrees) ++disagreeing;
  if (std::abs(agreement.z) > largest_z) {
    largest_z = std::abs(agreement.z);
    where = name;
  }
}

}  // namespace isobar::decay
