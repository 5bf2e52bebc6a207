// The reach of a verdict: its words on ladders whose effect is known, and rungs that are foretold.
#include "../../experiments/claims/reach.h"

#include <doctest/doctest.h>

#include <random>
#include <sstream>
#include <tuple>

#include "../../experiments/claims/kept.h"
#include "../message_of.h"
#include "../temporary_folder.h"
#include "../verdict_rates/cells.h"

namespace isobar::reach_test {

using namespace isobar::claims;
using doctest::Approx;

const std::vector<double> compute = {36, 37, 38, 39, 40};
const Predicate above_0{Rule::mean, just_above(0), infinity};

// Eight seeds about each mean, a tenth apart at most, the same on each rung.
std::vector<Spread> rungs_of(const std::vector<double>& means) {
  std::vector<Spread> rungs;
  for (const double mean : means) {
    std::vector<double> values;
    for (const double away : {-0.05, -0.03, -0.02, 0.0, 0.01, 0.02, 0.03, 0.04})
      values.push_back(mean + away);
    rungs.push_back(spread_of(values));
  }
  return rungs;
}

std::string words(const std::vector<double>& means, const Predicate& predicate = above_0) {
  std::vector<Phrase> names;
  for (size_t i = 0; i < means.size(); ++i) names.push_back(fmt::format("r{}", i + 1));
  return text_of(reach_of(predicate, {compute.begin(), compute.begin() + std::ssize(means)}, rungs_of(means)),
                 names)
      .en;
}

TEST_CASE("a reach has a word for each course of an effect") {
  const std::pair<std::vector<double>, const char*> rows[] = {
      {{1, 1, 1, 1, 1}, "holds at all sizes, r1 to r5"},
      {{3, 2.5, 2, 1.5, 1}, "holds at all sizes, r1 to r5, and moves towards 0 with size"},
      {{1, 1.5, 2, 2.5, 3}, "holds at all sizes, r1 to r5, and moves away from 0 with size"},
      {{-1, -1, -1, -1, -1}, "fails at all sizes, r1 to r5"},
      {{-3, -2, -1.5, -1, -0.5}, "fails at all sizes, r1 to r5, and moves towards 0 with size"},
      {{1, 0.5, 0, -0.5, -1}, "flips between r2 and r4"},
      {{1, 1, 1, 1, -1}, "flips between r4 and r5"},
      {{0.3, 0.22, 0.14, 0.08, 0.02}, "moves towards 0 with size (5 sizes, r1 to r5: holds at 4, open at 1)"},
      {{0.02, 0.08, 0.14, 0.22, 0.3},
       "moves away from 0 with size (5 sizes, r1 to r5: holds at 4, open at 1)"},
      {{0, 0, 0, 0, 0}, "not decided (5 sizes, r1 to r5: open at 5)"},
      {{1, 1, 0, 1, 1}, "not decided (5 sizes, r1 to r5: holds at 4, open at 1)"},
      {{-1, -1, 0, -1, -1}, "not decided (5 sizes, r1 to r5: fails at 4, open at 1)"}};
  for (const auto& [means, wanted] : rows) CHECK(words(means) == wanted);
  CHECK(words({0.3, 0.3, 0.3, 0.3, 0.3}, {Rule::mean, -0.1, 0.1}) == "fails at all sizes, r1 to r5");
}

// The slope of y = 2 x is 2; its interval by hand: each rung's variance of the mean is s²/8 with Σ(x − 38)² = 10, so
// the slope's is s²/80; Welch's degrees of freedom are 7 (4 + 1 + 0 + 1 + 4)² / (4² + 1 + 1 + 4²) = 20.6.
TEST_CASE("the slope of a ladder has the interval that its seeds give it") {
  const Reach reach = reach_of(above_0, compute, rungs_of({72, 74, 76, 78, 80}));
  const double sd = rungs_of({0})[0].linear.sd;
  CHECK(reach.slope == Approx(2).epsilon(1e-12));
  CHECK(reach.slope_interval.high - 2 ==
        Approx(student_quantile(0.995, 20) * sd / std::sqrt(80)).epsilon(1e-9));
  // A rung off the line makes it longer; one value alone on a rung leaves none.
  CHECK(reach_of(above_0, compute, rungs_of({72, 74, 77, 78, 80})).slope_interval.high >
        reach.slope_interval.high + 0.1);
  std::vector<Spread> lone = rungs_of({72, 74, 76, 78, 80});
  lone[2] = spread_of(std::vector{76.0});
  CHECK_FALSE(reach_of(above_0, compute, lone).grows);
}

TEST_CASE("a ladder wants three rungs whose compute increases") {
  CHECK(message_of([] {
          reach_of(above_0, {1, 2}, rungs_of({1, 1}));
        }) == "a ladder: wanted 3 rungs or more, each with its compute, got 2 rungs and 2 of compute");
  CHECK(message_of([] {
          reach_of(above_0, {1, 2, 2}, rungs_of({1, 1, 1}));
        }) == "a ladder: its compute must increase");
}

TEST_CASE("no effect is called flips, grows or fades in 1 % of ladders at most") {
  for (const Climbing& of : ladders()) {
    CAPTURE(of.name);
    const LadderRates one = ladder_rates(of, 2000);
    if (of.none) CHECK(one.wrong <= most_of(2000));
    if (of.name == "the same net on both sides")
      CHECK(one.words[static_cast<size_t>(ReachWord::undecided)] == Approx(1));
    if (of.name == "6 sd on all rungs") CHECK(one.words[static_cast<size_t>(ReachWord::holds)] > 0.9);
    if (of.name == "6 sd, falling to -6") CHECK(one.words[static_cast<size_t>(ReachWord::flips)] > 0.9);
  }
}

// Thirty ladders at a time: straight lines, whose rungs lie a normal deviate of half a seed's sd off them.
TEST_CASE("95 of 100 rungs that are foretold lie where they were") {
  std::mt19937_64 random(1);
  const auto normal = [&] { return std::normal_distribution<double>()(random); };
  int64_t covered = 0, all = 0;
  for (int repeat = 0; repeat < 40; ++repeat) {
    std::vector<Ladder> ladders(30);
    std::vector<double> tops;
    for (Ladder& ladder : ladders) {
      const double slope = normal(), scale = std::exp(normal());
      for (int rung = 0; rung < 5; ++rung) {
        const double centre = slope * rung + 0.5 * scale * normal();
        std::vector<double> seeds;
        for (int seed = 0; seed < 13 - 2 * rung; ++seed) seeds.push_back(centre + scale * normal());
        if (rung == 4) {
          tops.push_back(spread_of(seeds).linear.mean);
          continue;
        }
        ladder.log2_compute.push_back(rung);
        ladder.rungs.push_back(spread_of(seeds));
      }
    }
    const std::vector<Foretold> foretold = foretell(ladders, 4, 5);
    for (size_t i = 0; i < tops.size(); ++i, ++all) covered += foretold[i].interval.contains(tops[i]);
  }
  const double share = static_cast<double>(covered) / static_cast<double>(all);
  CHECK(share > 0.93);
  CHECK(share < 0.985);
}

// Of what the files foretell the kept values have those that parts read; the share of all is kept too.
TEST_CASE("the fifth rungs were foretold as the kept values say") {
  const Runs kept = Kept::shipped().runs(builtin_claims());
  int compared = 0;
  for (const auto& [name, file, comparisons] :
       {std::tuple{"ladder_shakespeare", "foretold.csv", 22}, {"ladder_kjv", "foretold_kjv.csv", 8}}) {
    const std::string ladder = name;
    CAPTURE(ladder);
    const Json& measured = kept.summaries.at(ladder).at("measured");
    std::istringstream rows(file_text(std::string(ISOBAR_SOURCE_DIR "/experiments/studies/ladder/") + file));
    std::string row;
    std::getline(rows, row);
    CHECK(row == "comparison,foretold,low,high");
    int all = 0, outside = 0;
    for (; std::getline(rows, row); ++all) {
      const std::string key = row.substr(0, row.find(',')) + ".rung5";
      if (!measured.contains(key)) continue;
      double value = 0, low = 0, high = 0;
      REQUIRE(std::sscanf(row.c_str() + row.find(','), ",%lf,%lf,%lf", &value, &low, &high) == 3);
      CHECK((low < value && value < high));
      const double mean = spread_from(measured[key]).linear.mean;
      ++compared;
      outside += mean < low || mean > high;
    }
    CHECK(all == comparisons);
    const double covered = spread_from(measured.at("foretold.covered")).median;
    CHECK(outside <= std::lround((1 - covered) * comparisons));
  }
  CHECK(compared >= 8);  // no part reads such a difference in nats on the King James Bible
}

}  // namespace isobar::reach_test
