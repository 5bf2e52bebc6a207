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
  // t(1 − 0.01/4, 7) = 4.029 times √(6/8) = 0.866: the interval of 1 to 8 is ±3.489.
  const Range seen = decide(pairs(0, 8), 1).interval;
  CHECK(std::abs(seen.high - 3.489) < 1e-3);
  CHECK(seen.low == -seen.high);
  const struct {
    double mean, margin;
    Outcome outcome;
  } rows[] = {{-3.5, 1, Outcome::better},
              {3.5, 1, Outcome::worse},
              {3.4, 1, Outcome::undecided},
              {0.5, 4, Outcome::equal},
              {0.6, 4, Outcome::undecided}};
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

// A few cells of the second table that verdict_rates prints.
TEST_CASE("duels of equals keep the error rate, looked at after each pair") {
  constexpr int64_t few = 200;
  for (const claims::Differences& of : claims::duels()) {
    const bool decided = of.name.ends_with("by 2 sd");
    if (!decided && !(of.equals && of.promised)) continue;
    const claims::DuelRates one = duel_rates(of, few);
    CAPTURE(of.name);
    CHECK((decided ? one.better > 0.95 : one.better + one.worse <= claims::most_of(few)));
    if (decided) CHECK(one.worse == 0);
  }
}

}  // namespace isobar::decision_test
