// Point: one net of the map at all its rates. It says which trainings it still needs: coarse rates, two octaves
// apart, then more beyond an end that learns, then octaves at the borders, then seeds on either side of each border.
//
//   while (!(cells = point.wanted(enough, seeds)).empty())
//     for (cell of cells) point.add(cell, gain of training it);
//   point.window(enough);
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "config.h"

namespace isobar::trains {

// A rate is 2^octave.
struct Cell {
  int64_t octave;
  int64_t seed;  // 0, 1, …: number of the training
};

// The rates at which a net learns, and those next to them at which it does not: a border lies between.
struct Window {
  int64_t low, high;                    // octaves: the least and the greatest that learns
  std::optional<int64_t> below, above;  // tested, beside them, and it does not learn
  double lowest_rate() const;  // the borders: geometric means; the outermost rate where there is none
  double highest_rate() const;
  double octaves() const;  // the width of the window
};

struct Rates {
  int64_t first, last;  // octaves: the coarse rates
  int64_t least, most;  // beyond these none is tried
};
// Of an optimizer.
Rates rates_of(const std::string& optimizer);

class Point {
 public:
  explicit Point(Net net) : net_(std::move(net)), rates_(rates_of(net_.optimizer)) {}

  const Net& net() const { return net_; }
  // The coarse rates, one seed each: what comes before anything is known.
  std::vector<Cell> coarse() const;
  // What is missing, where a gain of `enough` is learning; empty: nothing.
  std::vector<Cell> wanted(double enough, int64_t seeds) const;
  void add(const Cell& cell, double gain) { gains_[cell.octave].push_back(gain); }

  // The median gain at an octave; −∞: diverged.
  double gain(int64_t octave) const;
  double best_gain() const { return gains_.empty() ? 0 : gain(best()); }
  int64_t best() const;  // its octave
  // None where it learns at no rate.
  std::optional<Window> window(double enough) const;
  const std::map<int64_t, std::vector<double>>& gains() const { return gains_; }

  // Before training, and by the first step at the least rate that was tried.
  double start_logits = 0, change_over_rate = 0;

 private:
  bool learns(int64_t octave, double enough) const { return gain(octave) >= enough; }

  Net net_;
  Rates rates_;
  std::map<int64_t, std::vector<double>> gains_;  // by octave, over the seeds
};

// --- Scales and depths: where neighbours of a line differ, and lie further apart than √2, a net between them.

// The values to be tried next; `trains` has what is known, by scale or by depth.
std::vector<double> between_neighbours(const std::map<double, bool>& trains, bool whole_numbers);

// A border between a value at which a net trains at some rate and one at which it does not.
struct ValueBorder {
  double trains, fails;
  double at() const;  // the geometric mean
};
// Above or below the values that train and hold `around`, or the first of them; none where all train so far as
// was tried, or none does.
std::optional<ValueBorder> border_above(const std::map<double, bool>& trains);
std::optional<ValueBorder> border_below(const std::map<double, bool>& trains);

}  // namespace isobar::trains
