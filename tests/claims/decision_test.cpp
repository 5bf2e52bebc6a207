// When a duel ends, and how often it ends wrongly.
#include "../../experiments/duel/decision.h"

#include <doctest/doctest.h>

#include "../message_of.h"
#include "../verdict_rates/cells.h"

namespace isobar::decision_test {

using duel::decide;
using duel::Outcome;

// So many differences about `mean`, each 1 apart from its neighbours.
std::vector<double> pairs(double mean, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(mean + i - (n - 1) / 2.0);
  return values;
}

TEST_CASE("a duel ends where the interval leaves 0, or lies within the margin") {
  // z² = (1 + 2/8) (ln 5 + 7.75) = 11.699, P(Z > 3.4204) = 3.126e-4; t(1 − 3.126e-4, 7) = 5.858 times √(6/8) = 0.866: the
  // interval of 1 to 8 is ±5.074.
  CHECK(duel::error_of_end(8) == doctest::Approx(3.126e-4).epsilon(1e-3));
  const Range seen = decide(pairs(0, 8), 1).interval;
  CHECK(std::abs(seen.high - 5.074) < 1e-3);
  CHECK(seen.low == -seen.high);
  const struct {
    double mean, margin;
    Outcome outcome;
  } rows[] = {{-5.1, 1, Outcome::better},
              {5.1, 1, Outcome::worse},
              {5.0, 1, Outcome::undecided},
              {0.5, 5.6, Outcome::equal},
              {0.6, 5.6, Outcome::undecided}};
  for (const auto& row : rows) {
    CAPTURE(row.mean);
    CHECK(decide(pairs(row.mean, 8), row.margin).outcome == row.outcome);
  }
}

TEST_CASE("an open duel says how many pairs would decide") {
  // The same values again and again: as many as it names decide, give or take that their deviation is less.
  const std::vector<double> few = pairs(-2, 8);
  const int64_t needed = decide(few, 0.1).needed;
  std::vector<double> more;
  while (std::ssize(more) < needed) more.push_back(few[more.size() % 8]);
  CHECK(decide(more, 0.1).outcome == Outcome::better);
  more.resize(static_cast<size_t>(needed) / 2);
  CHECK(decide(more, 0.1).outcome == Outcome::undecided);
  CHECK(decide(pairs(-9, 7), 0.1).outcome == Outcome::undecided);
  CHECK(message_of([] { decide(std::vector<double>{1, NAN}, 0.1); }).find("not finite") != std::string::npos);
  CHECK(message_of([] { decide(pairs(0, 8), 0); }).find("margin: wanted more than 0") != std::string::npos);
}

TEST_CASE("a duel of a search has its share of the error rate: a wider boundary, and a later first look") {
  // 2 · 2⁻ⁿ ≤ 1 %, and a hundredth of it.
  CHECK(duel::first_look() == 8);
  CHECK(duel::first_look(0.01) == 15);
  const std::vector<double> eight = pairs(-9, 8), twenty = pairs(-9, 20);
  CHECK(decide(eight, 0.1).outcome == Outcome::better);
  CHECK(decide(eight, 0.1, 0.01).outcome == Outcome::undecided);
  CHECK(decide(twenty, 0.1).outcome == Outcome::better);
  CHECK(decide(twenty, 0.1, 1e-4).interval.high > decide(twenty, 0.1).interval.high);
  // e^(−z²/2) is proportional to the share, but for the power 1 + 2/n.
  CHECK(duel::error_of_end(1'000'000, 0.01) < 0.011 * duel::error_of_end(1'000'000));
  CHECK(message_of([&] { decide(eight, 0.1, 0); }).find("share: wanted a part of the error rate") !=
        std::string::npos);
}

// A few cells of the second table that verdict_rates prints.
TEST_CASE("duels of equals keep the error rate, looked at after each pair") {
  constexpr int64_t few = 400;
  for (const claims::Differences& of : claims::duels()) {
    const bool decided = of.name.ends_with("by 1 sd");
    if (!decided && !(of.equals && of.promised)) continue;
    const claims::DuelRates one = duel_rates(of, few, false).now;
    CAPTURE(of.name);
    CHECK((decided ? one.better > 0.7 : one.better + one.worse <= claims::most_of(few)));
    if (decided) CHECK(one.worse == 0);
  }
}

TEST_CASE("a search of forty equal norms keeps none, and one better is found") {
  constexpr int64_t few = 200;
  CHECK(claims::search_rates(false, few).wrong <= claims::most_of(few));
  const claims::SearchRates one = claims::search_rates(true, few);
  CHECK(one.wrong <= claims::most_of(few));
  CHECK(one.found >= 0.6);
}

}  // namespace isobar::decision_test
