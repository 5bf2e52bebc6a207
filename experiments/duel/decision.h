// Decision: when a duel ends. Claims' rules (claims/rules.h) read the pairs' differences after each pair; how
// often a decision is wrong, tests/verdict_rates simulates.
#pragma once

#include <span>

#include "../claims/rules.h"

namespace isobar::duel {

enum class Outcome { better, worse, equal, undecided };  // of A beside B; the lower loss is better

struct Decision {
  Outcome outcome;
  Range interval;                             // of the mean difference, at any number of looks
  claims::Doubt doubt = claims::Doubt::none;  // why the rule does not hold for these pairs
  int64_t needed = 0;                         // undecided: so many pairs may decide; 0: unknown
};

// The first look. Of fewer pairs all have one sign in more than 1 % of duels of equals, whatever their spread: no
// rule that holds for all symmetric differences decides by seven.
inline constexpr int64_t first_look = 8;

// `differences` are A's loss minus B's, pair by pair, finite; `margin` is what is called equal. Better and worse
// together are wrong in 1 % of all duels of equals, at most, and equal in 1 % of those that are the margin apart.
Decision decide(std::span<const double> differences, double margin);

}  // namespace isobar::duel
