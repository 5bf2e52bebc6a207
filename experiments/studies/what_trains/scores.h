// Scores: every border of a map that was measured, beside its prediction and two null predictions; and how many nets
// were predicted to train.
#pragma once

#include <algorithm>
#include <array>

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
  // Null predictions: the medians of the other measured borders of its kind, task and optimizer. None: there is no other.
  std::optional<double> null = std::nullopt;       // over all norms, scales and depths
  std::optional<double> null_here = std::nullopt;  // over the norms at its own scale, depth and embedding

  // Whether the value is within the kind's tolerance of the measured one. False for no value.
  bool within(const std::optional<double>& value) const;
  // log2(value / measured); NaN for no value.
  double octaves_to(const std::optional<double>& value) const;
};

// Those of all nets but the ones whose trial gave the constants. In the order of kinds.
std::vector<Border> borders_of(const Map& map);

struct Score {
  int64_t borders = 0, predicted = 0, null = 0;  // how many there are, and how many are within the tolerance
  int64_t paired = 0, predicted_of_paired = 0, null_here = 0;  // the same of those that have a null_here
  double squares = 0, null_squares = 0;                        // sums of the squared octaves_to
  void add(const Border& border);
  // Root mean square errors, in octaves.
  double error() const;
  double null_error() const;
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

// Of all nets but those of the trials: how many were predicted to train at some rate (first index 1) or at none (0), and
// did (second index 1) or did not (0).
std::array<std::array<int64_t, 2>, 2> nets_predicted_to_train(const Map& map);

// Four tables: of each task, optimizer and norm the range of scales at which the nets of default depth train at some rate,
// measured and predicted; how many nets train at some rate, and were predicted to; how many borders of each kind, task
// and norm are within the tolerance; and the errors of rates.
std::string scores_text(const Map& map);

}  // namespace isobar::trains
