// Scores: every border of a map that was measured, beside its prediction and a null prediction.
#pragma once

#include <algorithm>

#include "map.h"

namespace isobar::trains {

enum class Kind { lowest_rate, highest_rate, least_scale, greatest_scale, greatest_depth };
// "lowest rate", …
const char* kind_name(Kind kind);
double tolerance_of(Kind kind);

// A border that was measured, or predicted, inside of what was tried. Infinities and zeros, "no border", count as the
// ends of what was tried; NaN: there is no such net that trains.
struct Border {
  Kind kind;
  Net net;  // of a scale border its scale, of a depth border its depth, say nothing
  double measured = 0, predicted = 0;
  double null = 0;       // the median over all norms, scales and depths of its task and optimizer
  double null_here = 0;  // the median over the norms at its own scale or depth

  bool within(double value) const;  // of the measured one, by the kind's tolerance
};

// Those of all nets but the ones whose trial gave the constants. In the order of kinds.
std::vector<Border> borders_of(const Map& map);

struct Score {
  int64_t borders = 0, predicted = 0, null = 0, null_here = 0;  // how many are within the tolerance
  void add(const Border& border);
};
// By kind, by norm, or by what else `name` makes of a border; in the order of first use.
template <class Name>
std::vector<std::pair<std::string, Score>> scores_by(const std::vector<Border>& borders, const Name& name) {
  std::vector<std::pair<std::string, Score>> scores;
  for (const Border& border : borders) {
    const std::string of = name(border);
    auto found = std::ranges::find(scores, of, &std::pair<std::string, Score>::first);
    if (found == scores.end()) found = scores.insert(scores.end(), {of, {}});
    found->second.add(border);
  }
  return scores;
}

// Two tables: of each task, optimizer and norm the range of scales at which the nets of default depth train at some rate,
// measured and predicted; and how many borders of each kind, task and norm are within the tolerance.
std::string scores_text(const Map& map);

}  // namespace isobar::trains
