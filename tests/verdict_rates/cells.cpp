#include "cells.h"

#include <limits>

#include "../../experiments/claims/reach.h"
#include "../../experiments/duel/decision.h"

namespace isobar::claims {

using Random = std::mt19937_64;

constexpr int64_t any = 2;           // one seed says nothing
constexpr int64_t one_failing = 20;  // a failing seed in five is among 20, 99 times in 100
constexpr int64_t ties = 5;          // values of which three are often one and the same
constexpr int64_t very_skewed = 40;  // whose row should say log

SeedShape normal(double mean) {
  return {"normal, mean " + std::to_string(static_cast<int>(mean)) + " sd",
          [mean](Random& random) { return mean + std::normal_distribution<double>()(random); }, mean, false,
          any};
}

SeedShape accuracy(double share) {
  return {"accuracy of 2000, about " + std::to_string(share).substr(0, 4),
          [share](Random& random) { return std::binomial_distribution<int>(2000, share)(random) / 2000.0; },
          share, false, any};
}

// The share of a digit among the 10,000 test images of MNIST, for a net that names the same one for all.
double guess(Random& random) {
  constexpr int images[] = {980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009};
  return images[random() % 10] / 1e4;
}

double exponential(Random& random) { return std::exponential_distribution<double>()(random); }
double around_one(Random& random) { return 1 + 0.01 * std::normal_distribution<double>()(random); }

PartOutcome outcome(Asked asked, const SeedShape& values, const std::vector<double>& seeds, double printed,
                    int64_t look) {
  const double truth = values.log ? std::exp(values.mean) : values.mean;
  Predicate predicate{Rule::mean, truth, infinity, values.log};
  if (asked == Asked::time) predicate.rule = Rule::time;
  if (asked == Asked::between) predicate.low = truth - 1e-9, predicate.high = truth + 1e-9;
  if (asked == Asked::printed) predicate = {Rule::one_more_seed, printed, printed, values.log};
  return read(predicate, spread_of(seeds), 1, look).outcome;
}

const std::vector<SeedShape>& shapes() {
  static const std::vector<SeedShape> all = {
      normal(0),
      normal(1),
      normal(2),
      normal(3),
      normal(10),
      {"log-normal, with log",
       [](Random& random) { return std::exp(std::normal_distribution<double>()(random)); }, 0, true, any},
      {"Student's t, 3 degrees",
       [](Random& random) { return std::student_t_distribution<double>(3)(random); }, 0, false, any},
      {"Student's t, 3 degrees, mean 5",
       [](Random& random) { return 5 + std::student_t_distribution<double>(3)(random); }, 5, false, any},
      accuracy(0.9),
      accuracy(0.98),
      {"accuracy of guessing nets", guess, 0.1, false, ties},
      {"uniform", [](Random& random) { return std::uniform_real_distribution<double>()(random); }, 0.5},
      {"exponential", exponential, 1},
      {"log-normal, without log",
       [](Random& random) { return std::exp(std::normal_distribution<double>()(random)); }, std::exp(0.5),
       false, very_skewed},
      {"one in five is 0, others 1 ± 0.01",
       [](Random& random) { return random() % 5 == 0 ? 0 : around_one(random); }, 0.8, false, one_failing},
      {"one in five is 0, others 1", [](Random& random) { return random() % 5 == 0 ? 0.0 : 1.0; }, 0.8, false,
       one_failing},
      {"one in five 5 sd lower",
       [](Random& random) { return around_one(random) - (random() % 5 == 0 ? 0.05 : 0); }, 0.99, false,
       one_failing},
      {"two clusters, 10 sd apart",
       [](Random& random) {
         return std::normal_distribution<double>()(random) + (random() % 2 == 0 ? 10 : 0);
       },
       5},
      {"one in three 8 sd lower",
       [](Random& random) {
         return std::normal_distribution<double>()(random) - (random() % 3 == 0 ? 8 : 0);
       },
       -8 / 3.0, false, one_failing},
      {"10 + exponential", [](Random& random) { return 10 + exponential(random); }, 11}};
  return all;
}

const char* name_of(Asked asked) {
  constexpr const char* names[] = {"mean, one bound", "mean, two bounds", "time", "one_more_seed"};
  return names[static_cast<size_t>(asked)];
}

Rates rates(Asked asked, const SeedShape& values, int64_t seeds, int64_t trials) {
  Rates rates;
  for (int64_t trial = 0; trial < trials; ++trial) {
    Random random(static_cast<uint64_t>(trial * 1000 + seeds));
    const double printed = values.draw(random);
    std::vector<double> drawn;
    bool refuted = false, confirmed = false;
    for (int64_t look = 1, count = seeds; look <= most_looks; ++look, count += (count + 1) / 2) {
      while (std::ssize(drawn) < count) drawn.push_back(values.draw(random));
      const PartOutcome now = outcome(asked, values, drawn, printed, look);
      refuted |= now == PartOutcome::fails;
      confirmed |= now == PartOutcome::holds && asked != Asked::printed;  // a printed value has no bound
      rates.refuted[static_cast<size_t>(look - 1)] += refuted;
      rates.confirmed[static_cast<size_t>(look - 1)] += confirmed;
      rates.not_judged += look == 1 && now == PartOutcome::not_normal;
    }
  }
  const auto share = [trials](double& count) { count /= static_cast<double>(trials); };
  for (double& count : rates.refuted) share(count);
  for (double& count : rates.confirmed) share(count);
  share(rates.not_judged);
  return rates;
}

double power(double sds, int64_t seeds, int64_t trials) {
  int64_t decided = 0;
  for (int64_t trial = 0; trial < trials; ++trial) {
    Random random(static_cast<uint64_t>(trial * 1000 + seeds));
    std::vector<double> drawn;
    while (std::ssize(drawn) < seeds) drawn.push_back(sds + std::normal_distribution<double>()(random));
    decided += read({Rule::mean, 0, infinity}, spread_of(drawn), 1).outcome == PartOutcome::holds;
  }
  return static_cast<double>(decided) / static_cast<double>(trials);
}

const std::vector<Differences>& duels() {
  const auto normal = [](Random& random) { return std::normal_distribution<double>()(random); };
  const auto apart = [&](double sds) { return [=](Random& random) { return normal(random) - sds; }; };
  const auto clusters = [&](double half) {
    return [=](Random& random) { return normal(random) + (random() % 2 == 0 ? half : -half); };
  };
  static const std::vector<Differences> all = {
      {"normal", normal},
      {"Student's t, 3 degrees", shapes()[6].draw},
      {"two clusters, 4 sd apart", clusters(2)},
      {"two clusters, 10 sd apart", clusters(5)},
      {"exponential", [](Random& random) { return exponential(random) - 1; }, true, false},
      {"log-normal", [=](Random& random) { return std::exp(normal(random)) - std::exp(0.5); }, true, false},
      {"normal, A better by 0.5 sd", apart(0.5), false},
      {"normal, A better by 1 sd", apart(1), false},
      {"normal, A better by 2 sd", apart(2), false}};
  return all;
}

DuelRates duel_rates(const Differences& of, int64_t trials) {
  using duel::Outcome;
  DuelRates rates;
  const double each = 1 / static_cast<double>(trials);
  for (int64_t trial = 0; trial < trials; ++trial) {
    Random random(static_cast<uint64_t>(trial));
    std::vector<double> drawn;
    Outcome outcome = Outcome::undecided;
    // The margin is too small for any pairs to be equal within it.
    for (int64_t pairs = 1; pairs <= most_pairs; ++pairs) {
      drawn.push_back(of.draw(random));
      if (outcome != Outcome::undecided) continue;
      outcome = duel::decide(drawn, 1e-9).outcome;
      rates.pairs += each;
    }
    rates.better += outcome == Outcome::better ? each : 0;
    rates.worse += outcome == Outcome::worse ? each : 0;
    const PartOutcome once = read({Rule::mean, -infinity, 0}, spread_of(drawn), 1).outcome;
    rates.power += once == PartOutcome::holds || once == PartOutcome::fails ? each : 0;
  }
  return rates;
}

const std::vector<Climbing>& ladders() {
  const auto normal = [](Random& random) { return std::normal_distribution<double>()(random); };
  static const std::vector<Climbing> all = {
      {"no effect, normal", normal},
      {"no effect, Student's t, 3 degrees", shapes()[6].draw},
      {"no effect, two clusters, 4 sd apart",
       [=](Random& random) { return normal(random) + (random() % 2 == 0 ? 2 : -2); }},
      {"the same net on both sides", [](Random&) { return 0.0; }},
      {"6 sd on all rungs", normal, [](int) { return 6.0; }, false},
      {"6 sd, falling to 2", normal, [](int rung) { return 6.0 - rung; }, false},
      {"2 sd, rising to 6", normal, [](int rung) { return 2.0 + rung; }, false},
      {"6 sd, falling to -6", normal, [](int rung) { return 6.0 - 3 * rung; }, false}};
  return all;
}

LadderRates ladder_rates(const Climbing& of, int64_t trials) {
  LadderRates rates;
  const double each = 1 / static_cast<double>(trials);
  for (int64_t trial = 0; trial < trials; ++trial) {
    Random random(static_cast<uint64_t>(trial));
    std::vector<Spread> rungs;
    std::vector<double> log2_compute;
    for (int rung = 0; rung < 5; ++rung) {
      std::vector<double> seeds;
      for (int seed = 0; seed < 13 - 2 * rung; ++seed) seeds.push_back(of.mean(rung) + of.draw(random));
      rungs.push_back(spread_of(seeds));
      log2_compute.push_back(rung);
    }
    const ReachWord word = reach_of({Rule::mean, just_above(0), infinity}, log2_compute, rungs).word;
    rates.words[static_cast<size_t>(word)] += each;
    rates.wrong +=
        word == ReachWord::flips || word == ReachWord::grows || word == ReachWord::fades ? each : 0;
  }
  return rates;
}

double most_of(int64_t trials) {
  return error_rate + 4 * std::sqrt(error_rate * (1 - error_rate) / static_cast<double>(trials));
}

}  // namespace isobar::claims
