#include "search.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../../run/stats.h"

namespace isobar::trains {

double Window::lowest_rate() const {
  return std::exp2((static_cast<double>(low) + static_cast<double>(below.value_or(low))) / 2);
}
double Window::highest_rate() const {
  return std::exp2((static_cast<double>(high) + static_cast<double>(above.value_or(high))) / 2);
}
double Window::octaves() const { return std::log2(highest_rate() / lowest_rate()); }

Rates rates_of(const std::string& optimizer) {
  if (optimizer == "adamw") return {-13, -3, -21, 3};
  if (optimizer == "muon") return {-11, -1, -19, 5};
  return {-11, -1, -23, 7};
}

std::vector<Cell> Point::coarse() const {
  std::vector<Cell> cells;
  for (int64_t octave = rates_.first; octave <= rates_.last; octave += 2) cells.push_back({octave, 0});
  return cells;
}

double Point::gain(int64_t octave) const { return spread_of(gains_.at(octave)).median; }

int64_t Point::best() const {
  const auto less = [&](const auto& a, const auto& b) { return gain(a.first) < gain(b.first); };
  return std::max_element(gains_.begin(), gains_.end(), less)->first;
}

std::vector<Cell> Point::wanted(double enough, int64_t seeds) const {
  if (gains_.empty()) return coarse();
  const int64_t best = this->best();
  // Beyond an end that is the best, or that learns.
  std::vector<Cell> cells;
  const int64_t first = gains_.begin()->first, last = gains_.rbegin()->first;
  if ((best == first || learns(first, enough)) && first - 2 >= rates_.least) cells.push_back({first - 2, 0});
  if ((best == last || learns(last, enough)) && last + 2 <= rates_.most) cells.push_back({last + 2, 0});
  if (!cells.empty()) return cells;
  if (!learns(best, enough)) {  // a window of less than two octaves may lie beside the best
    for (const int64_t octave : {best - 1, best + 1})
      if (!gains_.contains(octave) && octave >= rates_.least && octave <= rates_.most)
        cells.push_back({octave, 0});
    return cells;
  }
  const std::optional<Window> found = window(enough);
  const auto close = [&](int64_t inside, std::optional<int64_t> outside) {
    if (!outside) return;
    if (std::abs(*outside - inside) > 1) {
      cells.push_back({(*outside + inside) / 2, 0});
      return;
    }
    for (const int64_t octave : {inside, *outside})
      for (int64_t seed = std::ssize(gains_.at(octave)); seed < seeds; ++seed)
        cells.push_back({octave, seed});
  };
  close(found->low, found->below);
  close(found->high, found->above);
  std::ranges::sort(cells, {}, [](const Cell& of) { return std::pair(of.octave, of.seed); });
  const auto same = [](const Cell& a, const Cell& b) { return a.octave == b.octave && a.seed == b.seed; };
  cells.erase(std::unique(cells.begin(), cells.end(), same), cells.end());
  return cells;
}

std::optional<Window> Point::window(double enough) const {
  if (gains_.empty() || !learns(best(), enough)) return std::nullopt;
  const auto at_best = gains_.find(best());
  Window window{.low = at_best->first, .high = at_best->first, .below = {}, .above = {}};
  for (auto at = at_best; at != gains_.begin();) {
    --at;
    if (!learns(at->first, enough)) {
      window.below = at->first;
      break;
    }
    window.low = at->first;
  }
  for (auto at = std::next(at_best); at != gains_.end(); ++at) {
    if (!learns(at->first, enough)) {
      window.above = at->first;
      break;
    }
    window.high = at->first;
  }
  return window;
}

std::vector<double> between_neighbours(const std::map<double, bool>& trains, bool whole_numbers) {
  std::vector<double> values;
  for (auto at = trains.begin(); at != trains.end(); ++at) {
    const auto next = std::next(at);
    if (next == trains.end()) break;
    double middle = std::sqrt(at->first * next->first);
    if (whole_numbers) middle = std::round(middle);
    const bool room =
        next->first > at->first * std::numbers::sqrt2 * 1.01 && middle != at->first && middle != next->first;
    if (at->second != next->second && room) values.push_back(middle);
  }
  return values;
}

double ValueBorder::at() const { return std::sqrt(trains * fails); }

std::optional<ValueBorder> border_above(const std::map<double, bool>& trains) {
  auto at = trains.rbegin();
  while (at != trains.rend() && !at->second) ++at;
  if (at == trains.rend() || at == trains.rbegin()) return std::nullopt;
  return ValueBorder{at->first, std::prev(at)->first};
}

std::optional<ValueBorder> border_below(const std::map<double, bool>& trains) {
  auto at = trains.begin();
  while (at != trains.end() && !at->second) ++at;
  if (at == trains.end() || at == trains.begin()) return std::nullopt;
  return ValueBorder{at->first, std::prev(at)->first};
}

}  // namespace isobar::trains
