// lm_norms, the built program run small.
#include "../../experiments/studies/lm_norms/results.h"
#include "study_run.h"

namespace isobar::lm_norms_test {

using doctest::Approx;

const std::string tiny =
    " --corpus synthetic --widths 16 --n_layer 2 --n_head 2 --n_kv_head 1 --block_size 16 --batch_size 4"
    " --eval_iters 2 --seeds 2 --pair_seeds 3 --init_std 0.144";

StudyRun run_tiny(const std::string& arguments) { return StudyRun("lm_norms", tiny + arguments); }

// A net that ended so, with these losses of its batches.
TrialOutcome outcome_of(double val_loss, std::vector<double> losses = {}) {
  return {.parameters = 0,
          .start_loss = 4,
          .tuning_loss = val_loss,
          .val_loss = val_loss,
          .end = {},
          .losses = std::move(losses)};
}

TrialRuns runs_of(const char* norm, double rate, std::vector<TrialOutcome> outcomes) {
  return {.trial = {.size = "64x4",
                    .placement = "pre",
                    .norm = norm,
                    .width = 64,
                    .layers = 4,
                    .steps = 30,
                    .warmup = 0,
                    .learning_rate = rate},
          .outcomes = std::move(outcomes)};
}

TEST_CASE("steps are counted until the mean of twenty batches has reached the target of the seed") {
  std::vector<double> losses(10, 4.0);
  losses.resize(40, 2.0);
  const TrialRuns runs = runs_of("none", 1e-3, std::vector<TrialOutcome>(4, outcome_of(2, losses)));
  // At most 4 at once; at most 3 with ten of each; 2 once the first ten are gone; 1.9 never.
  CHECK(runs.steps_to({4, 3, 2, 1.9}) ==
        std::vector<double>{20, 20, 30, std::numeric_limits<double>::infinity()});
  CHECK(runs.steps_to({3}).size() == 1);
}

TEST_CASE("the largest stable rate is that at which a seed learned, for each seed that all rates have") {
  const NormResults results{.trials = {runs_of("dyt", 1e-3, {outcome_of(2), outcome_of(2), outcome_of(2)}),
                                       runs_of("dyt", 3e-3, {outcome_of(2), outcome_of(1.9)}),
                                       runs_of("dyt", 1e-2, {outcome_of(2), outcome_of(2.9)}),
                                       runs_of("none", 1e-3, {outcome_of(2.9), outcome_of(2.8)})},
                            .unigram_loss = 3};
  CHECK(results.largest_stable_rates("64x4", "pre.dyt") == std::vector<double>{1e-2, 3e-3});
  const std::vector<double> none = results.largest_stable_rates("64x4", "pre.none");
  REQUIRE(none.size() == 2);
  CHECK(std::isnan(none[0]));
  CHECK(none[1] == 1e-3);
  CHECK(results.largest_stable_rates("64x4", "pre.rmsnorm").empty());
}

TEST_CASE("of several rates that is the best which the seeds of the sweep choose, whatever the others say") {
  NormResults results{
      .trials = {runs_of("dyt", 1e-3, {outcome_of(1)}), runs_of("dyt", 3e-3, {outcome_of(2)}),
                 runs_of("dyt", 1e-2, {outcome_of(1)}), runs_of("none", 1e-3, {outcome_of(2)})},
      .unigram_loss = 3};
  const double infinity = std::numeric_limits<double>::infinity();
  results.trials[0].tried = {outcome_of(2.5), outcome_of(2.5)};
  results.trials[1].tried = {outcome_of(2.4), outcome_of(2.4)};
  results.trials[2].tried = {outcome_of(0.5), outcome_of(infinity)};
  CHECK(results.best("64x4", "pre.dyt") == &results.trials[1]);
  CHECK(results.best("64x4", "pre.none") == &results.trials[3]);  // there is no choice
  results.trials[3].outcomes.push_back(outcome_of(infinity));
  CHECK(results.best("64x4", "pre.none") == nullptr);
}

TEST_CASE("a best rate at an edge asks for the next one beyond it, on a grid of 1 and 3") {
  const std::vector<double> rates = {3e-3, 1e-3, 1e-2};  // in any order
  CHECK(rate_beyond(rates, 1e-2) == 3e-2);
  CHECK(rate_beyond(rates, 1e-3) == 3e-4);
  CHECK(rate_beyond(std::vector<double>{0.03, 0.1}, 0.1) == 0.3);
  // Rates that are not of the grid: 2e-3 √10 = 6.3e-3 is nearer, as a ratio, to 1e-2 than to 3e-3.
  CHECK(rate_beyond(std::vector<double>{1e-3, 2e-3}, 2e-3) == 1e-2);
  CHECK(rate_beyond(std::vector<double>{2e-3, 5e-3}, 2e-3) == 1e-3);
}

TEST_CASE("a sweep ends between two rates, with a single rate, and at 1e-5 and 1") {
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-3, 3e-3, 1e-2}, 3e-3).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{3e-3}, 3e-3).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{3e-3, 3e-3}, 3e-3).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{0.3, 1}, 1).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-5, 1e-4}, 1e-5).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-9, 1e25}, 1e-9).has_value());
  CHECK_FALSE(rate_beyond(std::vector<double>{1e-9, 1e25}, 1e25).has_value());
}

TEST_CASE("a sweep upwards, or downwards, comes to its bound in steps of about 3") {
  for (const bool up : {true, false}) {
    CAPTURE(up);
    std::vector<double> rates = up ? std::vector<double>{1e-5, 3e-5} : std::vector<double>{1, 0.3};
    while (const auto next = rate_beyond(rates, rates.back())) {
      const double ratio = up ? *next / rates.back() : rates.back() / *next;
      CHECK(ratio > 2.9);
      CHECK(ratio < 3.4);
      rates.push_back(*next);
    }
    CHECK(rates.size() == 11);
    CHECK(rates.back() == (up ? 1 : 1e-5));
  }
}

TEST_CASE("lm_norms widens a sweep until its best rate has a worse one on each side") {
  const StudyRun run = run_tiny(
      " --nets pre.rmsnorm,ngpt@1e-3 --pair_nets pre.rmsnorm --steps 40"
      " --learning_rates 1e-4,3e-4 --deep_nets ''");
  const double best = run("pre.rmsnorm.best_learning_rate");
  CAPTURE(best);
  CHECK(best >= 1e-3);  // in 40 steps a rate of 3e-4 hardly moves anything
  CHECK(best < 1);
  for (const double factor : {0.3, 1.0, 10.0 / 3}) {  // both neighbours, of 1, 3, 10, 30, …
    const double rate = std::stod(fmt::format("{:.0e}", best * factor));
    CHECK(run.has(fmt::format("pre.rmsnorm.lr_{}.val_loss", rate)));
  }
  // A rate of its own is the only one.
  CHECK(run("ngpt.best_learning_rate") == 1e-3);
  CHECK_FALSE(run.has("ngpt.lr_0.0001.val_loss"));
}

TEST_CASE("dyt_equal begins as dyt_sqrtd, layernorm_bias as layernorm, and both part in training") {
  const StudyRun run = run_tiny(
      " --nets pre.dyt,pre.dyt_sqrtd,pre.dyt_equal,pre.layernorm,pre.layernorm_bias --steps 20"
      " --pair_nets '' --deep_nets ''");
  // The same function, up to rounding in f32.
  CHECK(run("pre.dyt_equal.start_loss") == Approx(run("pre.dyt_sqrtd.start_loss")).epsilon(1e-5));
  CHECK(run("pre.layernorm_bias.start_loss") == Approx(run("pre.layernorm.start_loss")).epsilon(1e-6));
  CHECK(std::abs(run("pre.dyt.start_loss") - run("pre.dyt_sqrtd.start_loss")) > 1e-3);
  CHECK(std::abs(run("pre.dyt_sqrtd_minus_dyt_equal")) > 1e-5);
  CHECK(std::abs(run("pre.layernorm_bias.val_loss") - run("pre.layernorm.val_loss")) > 1e-6);
  // Five norms of 16 biases, in 2 blocks: two norms a block, and the last one.
  CHECK(run("pre.layernorm_bias.parameters") - run("pre.layernorm.parameters") == 5 * 16);
}

TEST_CASE("lm_norms counts a rate that breaks a net, or teaches it nothing, as unstable and goes on") {
  const StudyRun run = run_tiny(
      " --nets pre.none --widths 32 --batch_size 8 --steps 300 --learning_rates 1e-9,1e-2,1e25 --deep_nets ''");
  CHECK(run("pre.none.lr_1e+25.val_loss", "nonfinite") == 2);
  CHECK(run("pre.none.largest_stable_learning_rate") == 1e-2);
  CHECK(run("pre.none.lr_1e-09.val_loss") > run("unigram_loss"));
  CHECK(run("unigram_loss") < std::log(16));
  CHECK(run("unigram_loss") > 1.8548);  // the language's entropy
  CHECK(run("pre.none.best_learning_rate") == 1e-2);
}

}  // namespace isobar::lm_norms_test
