#include "rate_grid.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace isobar {
namespace {

constexpr std::array<double, 11> grid = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1};

// The rate of the grid that is nearest, as a ratio.
double nearest_in_grid(double rate) {
  return *std::ranges::min_element(grid, {}, [&](double known) { return std::abs(std::log(known / rate)); });
}

}  // namespace

std::optional<double> rate_beyond(std::span<const double> rates, double best) {
  const auto [least, greatest] = std::ranges::minmax(rates);
  if (least == greatest || (best != least && best != greatest)) return std::nullopt;
  const double factor = best == least ? 1 / std::sqrt(10.0) : std::sqrt(10.0);
  const double next = nearest_in_grid(best * factor);
  const bool beyond = best == least ? next < best : next > best;
  return beyond ? std::optional(next) : std::nullopt;
}

}  // namespace isobar
