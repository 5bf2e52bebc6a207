#include "losses.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>

#include "../../run/stats.h"

namespace isobar {
namespace {

constexpr size_t mean_steps = 20;

}  // namespace

double steps_until(const std::vector<double>& losses, double target) {
  double sum = 0;
  for (size_t step = 0; step < losses.size(); ++step) {
    sum += losses[step] - (step < mean_steps ? 0 : losses[step - mean_steps]);
    if (step + 1 >= mean_steps && sum <= target * mean_steps) return static_cast<double>(step + 1);
  }
  return std::numeric_limits<double>::infinity();
}

double last_mean(const std::vector<double>& losses) {
  const size_t window = std::min(losses.size(), mean_steps);
  return std::accumulate(losses.end() - static_cast<std::ptrdiff_t>(window), losses.end(), 0.0) /
         static_cast<double>(window);
}

void add_training(PlotCurve& curve, const std::vector<std::vector<double>>& losses) {
  size_t steps = 0;
  for (const std::vector<double>& of_one : losses) steps = std::max(steps, of_one.size());
  const size_t window = std::min<size_t>(steps, 10);
  for (size_t end = window; window > 0 && end <= steps; end += window) {
    std::vector<double> means;
    for (const std::vector<double>& of_one : losses)
      if (of_one.size() >= end) {
        const auto last = of_one.begin() + static_cast<std::ptrdiff_t>(end);
        means.push_back(std::accumulate(last - static_cast<std::ptrdiff_t>(window), last, 0.0) /
                        static_cast<double>(window));
      }
    curve.add(static_cast<double>(end), spread_of(means));
  }
}

}  // namespace isobar
