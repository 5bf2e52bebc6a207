#include "logit_trajectory.h"

#include <algorithm>

namespace isobar {

void Trajectory::add(const std::vector<LogitPeaks>& layers, double loss, const std::vector<Csv::Cell>& row) {
  LogitPeaks largest{};
  for (size_t layer = 0; layer < layers.size(); ++layer) {
    const LogitPeaks& peaks = layers[layer];
    largest.logit = std::max(largest.logit, peaks.logit);
    largest.capped = std::max(largest.capped, peaks.capped);
    largest.bound = std::max(largest.bound, peaks.bound);
    past_bound = std::max(past_bound, peaks.logit / peaks.bound - 1);
    rebuild_error = std::max(rebuild_error, peaks.rebuild_error);
    std::vector<Csv::Cell> cells = row;
    cells.insert(cells.end(), {static_cast<int64_t>(layer), peaks.logit, peaks.capped, peaks.bound, loss});
    rows.push_back(std::move(cells));
  }
  logit.push_back(largest.logit);
  capped.push_back(largest.capped);
  bound.push_back(largest.bound);
  val_loss.push_back(loss);
}

std::vector<double> at_look(const std::vector<Trajectory>& runs, Series series, size_t number) {
  return values_of(runs, [&](const Trajectory& run) { return (run.*series)[number]; });
}
std::vector<double> at_end(const std::vector<Trajectory>& runs, Series series) {
  return at_look(runs, series, (runs.front().*series).size() - 1);
}
double worst(const std::vector<Trajectory>& runs, double Trajectory::*value) {
  double most = 0;
  for (const Trajectory& run : runs) most = std::max(most, run.*value);
  return most;
}
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] / b[i]);
  return result;
}

}  // namespace isobar
