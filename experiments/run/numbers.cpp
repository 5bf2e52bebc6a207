// How tables and messages write numbers.
#include <cmath>

#include "stats.h"
#include "table.h"

namespace isobar {

std::string number_text(double value) { return fmt::format("{:.4g}", value); }
std::string percent_text(double share) {
  return std::isnan(share) ? "–" : fmt::format("{:.3g} %", 100 * share);
}
std::string number_or_dash(double value) { return std::isnan(value) ? "–" : number_text(value); }

std::string spread_text(const Spread& spread) {
  std::string text = number_text(spread.median);
  if (spread.min < spread.max)
    text += fmt::format(" [{}, {}]", number_text(spread.min), number_text(spread.max));
  return spread.nonfinite == 0 ? text : fmt::format("{}, {} not finite", text, spread.nonfinite);
}

}  // namespace isobar
