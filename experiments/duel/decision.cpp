#include "decision.h"

namespace isobar::duel {

using claims::infinity;
using claims::PartOutcome;
using claims::Predicate;
using claims::Rule;

namespace {

constexpr int64_t look_at(int64_t pairs) { return pairs - first_look + 1; }

// How many pairs would decide if mean and deviation stay: each pair more is one look more, which asks for more.
int64_t pairs_needed(const Predicate& predicate, const Spread& spread) {
  int64_t pairs = spread.n;
  while (true) {
    const int64_t needed = seeds_needed(predicate, spread, 1, look_at(pairs));
    if (needed <= pairs) return needed == 0 ? 0 : std::max(pairs, spread.n + 1);
    pairs = needed;
  }
}

}  // namespace

Decision decide(std::span<const double> differences, double margin) {
  check(margin > 0, "margin: wanted more than 0, got {}", margin);
  check(std::ranges::all_of(differences, [](double d) { return std::isfinite(d); }),
        "the difference of a pair is not finite");
  const auto pairs = std::ssize(differences);
  if (pairs < first_look) return {Outcome::undecided, {-infinity, infinity}};
  const Spread spread = spread_of({differences.begin(), differences.end()});
  const int64_t look = look_at(pairs);
  const Predicate lower{Rule::mean, -infinity, 0}, within{Rule::mean, -margin, margin};
  const claims::Reading order = read(lower, spread, 1, look), equal = read(within, spread, 1, look);
  Decision decision{Outcome::undecided, order.interval, order.doubt};
  if (equal.outcome == PartOutcome::holds)
    decision.outcome = Outcome::equal;
  else if (order.outcome == PartOutcome::holds)
    decision.outcome = Outcome::better;
  else if (order.outcome == PartOutcome::fails)
    decision.outcome = Outcome::worse;
  else
    for (const int64_t needed : {pairs_needed(lower, spread), pairs_needed(within, spread)})
      if (needed > 0 && (decision.needed == 0 || needed < decision.needed)) decision.needed = needed;
  return decision;
}

}  // namespace isobar::duel
