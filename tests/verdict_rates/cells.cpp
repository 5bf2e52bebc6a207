#include "cells.h"

#include <cmath>
#include <limits>
#include <span>

#include "../../core/parallel.h"
#include "../../core/rng.h"
#include "../../experiments/claims/reach.h"
#include "../../experiments/duel/decision.h"
#include "../../experiments/duel/ledger.h"
#include "../../experiments/studies/settings/design.h"

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
      {"normal, A better by 0.75 sd", apart(0.75), false},
      {"normal, A better by 1 sd", apart(1), false},
      {"normal, A better by 2 sd", apart(2), false}};
  return all;
}

namespace {

// The margin of duels here is too small for any pairs to be equal within it.
constexpr double no_margin = 1e-9;

// Mean and deviation of the differences so far, and whether Student's interval with a normal quantile reaches over 0. Then
// no interval of duel::decide() lies beyond it: it is longer, and decide() need not be asked.
class Running {
 public:
  void add(double x) {
    ++n_;
    const double away = x - mean_;
    mean_ += away / static_cast<double>(n_);
    squares_ += away * (x - mean_);
  }
  bool reaches_over_0(double share) const {
    const auto n = static_cast<double>(n_);
    const double z = normal_quantile(1 - duel::error_of_end(n_, share));
    return n_ < 2 || std::abs(mean_) * std::sqrt(n) < (1 - 1e-6) * z * std::sqrt(squares_ / (n - 1));
  }

 private:
  int64_t n_ = 0;
  double mean_ = 0, squares_ = 0;
};

// How a duel ends whose differences draw() gives, and after how many pairs; `drawn` has them then.
struct Ended {
  duel::Outcome outcome = duel::Outcome::undecided;
  int64_t pairs = 0;
};
template <class Draw>
Ended ended(const Draw& draw, int64_t most, double share, std::vector<double>& drawn) {
  Ended duel;
  Running running;
  while (duel.outcome == duel::Outcome::undecided && duel.pairs < most) {
    drawn.push_back(draw());
    running.add(drawn.back());
    if (++duel.pairs >= duel::first_look(share) && !running.reaches_over_0(share))
      duel.outcome = duel::decide(drawn, no_margin, share).outcome;
  }
  return duel;
}

// As version 0.3 looked, from pair 8 on.
Ended ended_before(std::span<const double> drawn) {
  for (int64_t pairs = 8; pairs <= most_pairs; ++pairs) {
    const Spread spread = spread_of(drawn.first(static_cast<size_t>(pairs)));
    const PartOutcome below = read({Rule::mean, -infinity, 0}, spread, 1, pairs - 7).outcome;
    if (below == PartOutcome::holds) return {duel::Outcome::better, pairs};
    if (below == PartOutcome::fails) return {duel::Outcome::worse, pairs};
  }
  return {duel::Outcome::undecided, most_pairs};
}

// Trials in parts of a hundred, on all threads; adds what of(trial, counts) counted.
template <class Counts, class F>
Counts counted(int64_t trials, const F& of) {
  constexpr int64_t part = 100;
  std::vector<Counts> parts(static_cast<size_t>(chunk_count(trials, part)));
  parallel_for(trials, part, [&](int64_t begin, int64_t end) {
    for (int64_t trial = begin; trial < end; ++trial) of(trial, parts[static_cast<size_t>(begin / part)]);
  });
  Counts sum{};
  for (const Counts& one : parts)
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += one[i];
  return sum;
}

}  // namespace

DuelsOf duel_rates(const Differences& of, int64_t trials, bool looks_on) {
  using duel::Outcome;
  using Counts = std::array<int64_t, 8>;
  const Counts counts = counted<Counts>(trials, [&](int64_t trial, Counts& add) {
    Random random(static_cast<uint64_t>(trial));
    std::vector<double> drawn;
    const Ended now =
        ended([&] { return of.draw(random); }, looks_on ? very_many_pairs : most_pairs, 1, drawn);
    while (std::ssize(drawn) < most_pairs) drawn.push_back(of.draw(random));
    const std::span<const double> first = std::span(drawn).first(most_pairs);
    const Ended before = ended_before(first);
    const bool in_time = now.pairs <= most_pairs;
    add[0] += in_time && now.outcome == Outcome::better;
    add[1] += in_time && now.outcome == Outcome::worse;
    add[2] += std::min(now.pairs, most_pairs);
    add[3] += before.outcome == Outcome::better;
    add[4] += before.outcome == Outcome::worse;
    add[5] += before.pairs;
    add[6] += looks_on && now.outcome != Outcome::undecided;
    const PartOutcome once = read({Rule::mean, -infinity, 0}, spread_of(first), 1).outcome;
    add[7] += once == PartOutcome::holds || once == PartOutcome::fails;
  });
  const auto share = [&](size_t i) { return static_cast<double>(counts[i]) / static_cast<double>(trials); };
  return {{share(0), share(1), share(2)}, {share(3), share(4), share(5)}, share(6), share(7)};
}

SearchRates search_rates(bool one_better, int64_t searches) {
  constexpr int64_t norms = 40, most = 60;
  const auto counts =
      counted<std::array<int64_t, 2>>(searches, [&](int64_t search, std::array<int64_t, 2>& add) {
        Random random(static_cast<uint64_t>(search));
        const int64_t place = one_better ? 1 + static_cast<int64_t>(random() % norms) : 0;
        double champion = 0;  // its mean loss
        bool wrong = false;
        for (int64_t k = 1; k <= norms; ++k) {
          const double mean = k == place ? -1 : 0;
          std::vector<double> drawn;
          const auto draw = [&] { return mean - champion + std::normal_distribution<double>()(random); };
          if (ended(draw, most, duel::share_of_duel(k), drawn).outcome != duel::Outcome::better) continue;
          wrong |= mean >= champion;
          champion = mean;
        }
        add[0] += wrong;
        add[1] += champion < 0;
      });
  const auto share = [&](size_t i) { return static_cast<double>(counts[i]) / static_cast<double>(searches); };
  return {share(0), share(1)};
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

namespace {

const std::vector<SettingsFactor>& design() {
  static const std::vector<SettingsFactor> factors = factors_from(across::design_of(across::Steps()));
  return factors;
}

enum Factors { weights, embedding, optimizer, text, steps };  // as the design has them

bool has(size_t setting, Factors factor, const std::string& level) {
  const SettingsFactor& of = design()[static_cast<size_t>(factor)];
  return of.levels[of.of_setting[setting]].en == level;
}

}  // namespace

const std::vector<Across>& comparisons() {
  using enum PartOutcome;
  using Mean = std::function<double(size_t, Random&)>;
  static const std::vector<Across> all = [] {
    const Mean none = [](size_t, Random&) { return 0.0; };
    const auto only = [](Factors factor, const std::string& level, double sds, double else_sds = 0) {
      return Mean([=](size_t i, Random&) { return has(i, factor, level) ? sds : else_sds; });
    };
    const auto everywhere = [](double sds, double scatter = 0) {
      return Mean(
          [=](size_t, Random& random) { return sds + scatter * std::normal_distribution<double>()(random); });
    };
    const auto odd = [](double sds) { return Mean([=](size_t i, Random&) { return i == 5 ? sds : 0.0; }); };
    const std::string long_steps = fmt::format("{}", across::Steps().many),
                      short_steps = fmt::format("{}", across::Steps().few);
    std::vector<Across> rows;
    for (const double margin : {0.0, 1.0}) {
      const std::string with = margin > 0 ? ", margin 1 sd" : "";
      const PartOutcome right_of_none = margin > 0 ? equal : too_few_seeds,
                        right_of_one = margin > 0 ? depends : too_few_seeds;
      const auto add = [&](
                           const std::string& name, const Mean& mean, PartOutcome right, int factor = -1,
                           std::function<double(size_t)> sd = [](size_t) { return 1.0; }) {
        rows.push_back({name + with, mean, margin, right, factor, std::move(sd)});
      };
      add("no effect", none, right_of_none);
      add("no effect, settings 1 sd apart", everywhere(0, 1), too_few_seeds);
      add(
          "no effect, settings of the largest weights 3 sd apart",
          [](size_t i, Random& random) {
            const double drawn = std::normal_distribution<double>()(random);
            return has(i, weights, "1.6/√width") ? 3 * drawn : 0.0;
          },
          too_few_seeds);
      add("no effect, five times the sd on one text", none, right_of_none, -1,
          [](size_t i) { return has(i, text, "Tiny Shakespeare") ? 1.0 : 5.0; });
      add("no effect, five times the sd in long trainings", none, right_of_none, -1,
          [=](size_t i) { return has(i, steps, long_steps) ? 5.0 : 1.0; });
      for (const double sds : {2.0, 4.0, 10.0}) {
        const std::string size = fmt::format("{:g} sd ", sds);
        add(size + "with Muon alone", only(optimizer, "Muon", sds), right_of_one, optimizer);
        add(size + "with the largest weights alone", only(weights, "1.6/√width", sds), right_of_one, weights);
        add(size + "in long trainings alone", only(steps, long_steps, sds), right_of_one, steps);
        add(size + "in short trainings alone", only(steps, short_steps, sds), right_of_one, steps);
        add(size + "in one odd setting", odd(sds), margin > 0 && sds <= 4 ? equal : too_few_seeds);
        add(size + "with Muon, as much less with AdamW", only(optimizer, "Muon", sds, -sds), depends,
            optimizer);
        add(size + "everywhere", everywhere(sds), holds);
        add(size + "everywhere, settings half as far apart", everywhere(sds, sds / 2), holds);
      }
      add("1 sd everywhere", everywhere(1), holds);
    }
    return rows;
  }();
  return all;
}

AcrossRates across_rates(const Across& of, int64_t trials) {
  using enum PartOutcome;
  const Predicate asked{Rule::mean, just_above(0), infinity, false, of.margin};
  using Counts = std::array<int64_t, 6>;  // holds, fails, equal, depends, depends on another factor, open
  const Counts counts = counted<Counts>(trials, [&](int64_t trial, Counts& add) {
    Random random(static_cast<uint64_t>(trial));
    std::vector<Spread> settings;
    for (size_t i = 0; i < across::settings.size(); ++i) {
      const double mean = of.mean(i, random);
      std::vector<double> seeds;
      for (int seed = 0; seed < 5; ++seed)
        seeds.push_back(mean + of.sd(i) * std::normal_distribution<double>()(random));
      settings.push_back(spread_of(seeds));
    }
    const OverSettings over = read_settings(asked, design(), settings);
    const bool other = std::ranges::any_of(
        over.depends_on, [&](size_t factor) { return static_cast<int>(factor) != of.factor; });
    const PartOutcome word = over.reading.outcome;
    add[word == holds     ? 0
        : word == fails   ? 1
        : word == equal   ? 2
        : word == depends ? (other ? 4 : 3)
                          : 5] += 1;
  });
  const auto share = [&](size_t i) { return static_cast<double>(counts[i]) / static_cast<double>(trials); };
  AcrossRates rates{share(0), share(1), share(2), share(3), share(4), share(5)};
  const std::pair<PartOutcome, double> words[] = {
      {holds, rates.holds}, {fails, rates.fails}, {equal, rates.equal}, {depends, rates.depends}};
  rates.wrong = rates.other_factor;
  for (const auto& [word, of_word] : words)
    if (word != of.right) rates.wrong = std::max(rates.wrong, of_word);
  return rates;
}

double most_of(int64_t trials) {
  return error_rate + 4 * std::sqrt(error_rate * (1 - error_rate) / static_cast<double>(trials));
}

}  // namespace isobar::claims
