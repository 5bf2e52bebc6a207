// Reach: how far a verdict on trained nets goes. A ladder measures what the part reads on several rungs, each of
// more compute than the one before; experiments/studies/ladder/README.md has the words and how often they are wrong.
#pragma once

#include "rules.h"

namespace isobar::claims {

enum class ReachWord { holds, fails, flips, grows, fades, undecided };

struct Reach {
  ReachWord word = ReachWord::undecided;
  // Of flips: the last rung of one outcome and the first of the other, counted from 0.
  size_t before = 0, after = 0;
  std::vector<Reading> rungs = {};  // each as a part alone: to hold on all of them each must
  // The effect's change a doubling of compute, and its interval of confidence.
  double slope = 0;
  Range slope_interval = {};
  bool grows = false, fades = false;  // the trend, also beside the words holds and fails
};

// `log2_compute` increases, one for each rung. Throws Error for fewer than 3 rungs.
Reach reach_of(const Predicate& predicate, const std::vector<double>& log2_compute,
               const std::vector<Spread>& rungs);

// "holds at all sizes, 48 wide to 96 wide", "flips between 56 wide and 64 wide",
// "not decided (5 sizes, 48 wide to 96 wide: holds at 1, open at 4)".
Phrase text_of(const Reach& reach, const std::vector<Phrase>& rung_names);

// --- The next rung, foretold from those below it: for one ladder of several, whose rungs scatter about their lines
// alike.

struct Foretold {
  double value;
  Range interval;  // in 95 of 100 cases the mean of `seeds` seeds of the next rung lies in it
};

struct Ladder {
  std::vector<double> log2_compute;
  std::vector<Spread> rungs;
};
// Of each ladder, the rung at `log2_compute` with this many seeds.
std::vector<Foretold> foretell(const std::vector<Ladder>& ladders, double log2_compute, int64_t seeds);

}  // namespace isobar::claims
