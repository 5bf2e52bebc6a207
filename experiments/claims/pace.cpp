#include "pace.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kept.h"

namespace isobar::claims {

Pace Pace::of_texts(const std::string& scale) { return Pace(Kept::shipped().seconds(scale)); }

void Pace::made(const std::string& run, double seconds) {
  total_ += seconds;
  ++count_;
  const auto known = kept_.find(run);
  if (known == kept_.end()) return;
  here_ += seconds;
  there_ += known->second;
}

double Pace::seconds(const std::vector<std::string>& runs) const {
  // Runs of a second say little of a machine's speed: ten seconds at the kept speed are added to those made.
  constexpr double trust = 10;
  const double speed = (here_ + trust) / (there_ + trust);
  double sum = 0;
  for (const std::string& run : runs) {
    const auto known = kept_.find(run);
    if (known != kept_.end())
      sum += speed * known->second;
    else if (count_ > 0)
      sum += total_ / static_cast<double>(count_);
    else
      return std::numeric_limits<double>::quiet_NaN();
  }
  return sum;
}

std::string rough_time(double seconds) {
  if (seconds < 10) return "a few seconds";
  if (seconds < 90) return fmt::format("about {:.0f} s", 10 * std::round(seconds / 10));
  return fmt::format("about {:.0f} min", std::round(seconds / 60));
}

}  // namespace isobar::claims
