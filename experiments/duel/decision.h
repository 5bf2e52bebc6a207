// Decision: when a duel ends. After each pair the interval of the mean difference is compared with 0 and the margin,
// and there may be any number of pairs: the boundary has no last one. How often a decision is wrong,
// tests/verdict_rates --duels simulates.
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

// What a duel may spend of claims::error_rate, in (0, 1]: a search of many duels divides the rate among them.
inline constexpr double whole_rate = 1;

// The first pair after which the rule looks: 8 with the whole rate. Of fewer pairs all differences of two equal sides
// have one sign with a larger probability, 2^(1 − pairs), than the duel may spend, whatever their spread: no rule that
// holds for all symmetric differences decides by them.
int64_t first_look(double share = whole_rate);

// What either end of the interval may be wrong by after so many pairs: P(Z > z) of a normal Z, with
//   z² = (1 + 2/n) (ln(1 + n/2) + c − 2 ln share),
// the boundary of a mixture of normal hypotheses (Robbins, Statistical methods related to the law of the iterated
// logarithm, 1970, section 4). A random walk of equal steps crosses it at any n with a probability that is
// proportional to e^(−c/2), and so to `share`.
double error_of_end(int64_t pairs, double share = whole_rate);

// `differences` are A's loss minus B's, pair by pair, finite; `margin` is what is called equal. With the whole rate better
// and worse together are wrong in 1 % of duels of equals of up to 400 pairs, and equal in 1 % of those that are the margin
// apart.
Decision decide(std::span<const double> differences, double margin, double share = whole_rate);

}  // namespace isobar::duel
