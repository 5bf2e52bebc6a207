// Cells of the table of verdict rates: how often a rule refutes what is true, or confirms what is false at
// the bound, of simulated seeds of known shape. verdict_rates prints the table, verdict_rates_test.cpp tries a few cells.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "../../experiments/claims/over_settings.h"

namespace isobar::claims {

// Seeds of one shape: how one is drawn, and the mean of all (of the logarithms, where the claim takes those:
// e to that mean).
struct SeedShape {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;
  double mean;
  bool log = false;
  int64_t promised_from = 10;  // seeds from which on the rate is promised
};
const std::vector<SeedShape>& shapes();

// How often a part is decided at the first look, of seeds whose mean lies so many standard deviations beyond its one
// bound: the power.
double power(double sds, int64_t seeds, int64_t trials);

inline constexpr int64_t most_looks = 4;

// Of all trials, the share that was wrong after so many looks; each look has half as many seeds again as the
// one before.
struct Rates {
  std::array<double, most_looks> refuted{}, confirmed{};
  double not_judged = 0;  // such values have no interval, at the first look
};

// `at_least` and `between` are of the rule `mean`: one bound at the true mean, and a narrow interval about
// it.
enum class Asked { at_least, between, time, printed };
const char* name_of(Asked asked);
Rates rates(Asked asked, const SeedShape& values, int64_t seeds, int64_t trials);

// Duels, looked at after each pair.
struct Differences {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;
  bool equals = true;    // the contestants: the mean is 0
  bool promised = true;  // symmetric
};
const std::vector<Differences>& duels();
inline constexpr int64_t most_pairs = 25, very_many_pairs = 400;
// The shares of trials that ended so within most_pairs, and how many pairs they took.
struct DuelRates {
  double better = 0, worse = 0, pairs = 0;
};
struct DuelsOf {
  DuelRates now, before;  // by duel::decide(); by version 0.3's looks, of which the j-th spent 1/(j (j + 1))
  double ever = 0;  // decided, either way, by decide() within very_many_pairs; 0 where `looks_on` is false
  double once = 0;  // decided by one look at most_pairs
};
DuelsOf duel_rates(const Differences& of, int64_t trials, bool looks_on = true);

// Searches of forty norms with isobar duel --ledger: each in a duel of up to sixty pairs with the best one so far, all
// with the share of the error rate that its number has. Shares of searches.
struct SearchRates {
  double wrong = 0;  // something was kept that is no better
  double found = 0;  // the champion in the end is the one that is better by 1 sd of the pairs
};
// All are equal, or one of them, at any place, is better.
SearchRates search_rates(bool one_better, int64_t searches);

// Ladders of five rungs, of 13 seeds down to 5, as experiments/studies/ladder/ has them: the shares of trials with each word.
// `mean` is the effect on a rung, from 0 to 4; a part asks for one above 0.
struct Climbing {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;
  std::function<double(int)> mean = [](int) { return 0.0; };
  bool none = true;  // the effect is 0 on all rungs
};
const std::vector<Climbing>& ladders();
// The shares by ReachWord, and of those that say too much of no effect: flips, grows, fades.
struct LadderRates {
  std::array<double, 6> words{};
  double wrong = 0;
};
LadderRates ladder_rates(const Climbing& of, int64_t trials);

// Comparisons in the sixteen settings of the study settings, five pairs in each: what the rule over settings says.
struct Across {
  std::string name;
  // The mean of a setting, of those that draw theirs at random, too; in sd of the seeds.
  std::function<double(size_t setting, std::mt19937_64&)> mean;
  double margin = 0;  // of a "better": below it there is no difference
  // What is right: one word or none beside "open"; on which factor, where it is "depends".
  PartOutcome right = PartOutcome::too_few_seeds;
  int factor = -1;
  std::function<double(size_t setting)> sd = [](size_t) { return 1.0; };
};
const std::vector<Across>& comparisons();
// Shares of trials with each word; and the largest share of one wrong word.
struct AcrossRates {
  double holds = 0, fails = 0, equal = 0, depends = 0, other_factor = 0, open = 0;
  double wrong = 0;
};
AcrossRates across_rates(const Across& of, int64_t trials);

// What a share that is 1 % or less may be in so many trials: 1 % and four standard errors.
double most_of(int64_t trials);

}  // namespace isobar::claims
