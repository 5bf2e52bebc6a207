// norm_speed as its users meet it. It checks of times only that they are there, positive, and consistent.
// What is counted is held against sums by hand.
#include <cstdlib>
#include <limits>

#include "../../core/rng.h"
#include "../../experiments/run/clock.h"
#include "../../experiments/studies/norm_speed/variants.h"
#include "study_run.h"

namespace isobar::norm_speed_test {

using namespace isobar::speed;

TEST_CASE("every step has one turn in each round, in the same order") {
  std::string turns;
  // A turn of no time: one step each.
  Rounds rounds({[&] { turns += 'a'; }, [&] { turns += 'b'; }}, 0);
  turns.clear();
  for (int i = 0; i < 3; ++i) rounds.round();
  CHECK(turns == "ababab");
  REQUIRE(rounds.seconds().size() == 2);
  CHECK(rounds.seconds()[0].size() == 3);
}

TEST_CASE("a turn counts its fastest batch") {
  // On a clock that only the steps advance, every eighth step lasts 2 ms and not 20 µs: the mean of a turn is
  // 270 µs, its best batch of a few steps 20 µs.
  double now = 0;
  int calls = 0;
  Rounds rounds({[&] { now += ++calls % 8 == 0 ? 2e-3 : 20e-6; }}, 2e-2, [&] { return now; });
  rounds.round();
  CHECK(rounds.seconds()[0][0] == doctest::Approx(20e-6).epsilon(1e-9));
}

TEST_CASE("each group of rounds gives its best") {
  CHECK(best_of_groups({3, 1, 2, 9, 8, 7, 4, 4, 4, 5, 0.5, 6, 1, 1, 2}) ==
        std::vector<double>{1, 7, 4, 0.5, 1});
  CHECK(best_of_groups({5, 4, 3, 2, 1, 0, 1}) == std::vector<double>{5, 4, 2, 1, 0});  // 7 rounds: 1 1 2 1 2
  CHECK_THROWS_AS(best_of_groups({1, 2, 3, 4}), Error);
}

TEST_CASE("the machine is busy beyond any of three limits") {
  const Disturbance idle{.lost_share = 0.02, .spread = 0.05, .disagreement = 0.03};
  CHECK_FALSE(idle.busy());
  const auto with = [&](double Disturbance::*part, double value) {
    Disturbance seen = idle;
    seen.*part = value;
    return seen.busy();
  };
  CHECK(with(&Disturbance::lost_share, 0.3));
  CHECK(with(&Disturbance::spread, 1));
  CHECK(with(&Disturbance::disagreement, 0.5));
  CHECK(with(&Disturbance::disagreement, std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("quotients that differ from group to group are seen") {
  Machine machine;
  machine.turn();
  machine.turn();
  CHECK(machine.disturbance({{1, 1, 1}, {2, 2.1, 2}, {1, 3, 1}}).disagreement == doctest::Approx(0.05));
  CHECK(machine.disturbance({{1, 1.4, 1}, {2, 3, 1}}).busy());
}

TEST_CASE("work is counted from the tape and from the kernels") {
  // N = 10 rows of C = 4. RMSNorm spelled out: square NC, sum NC, and N each for mean, eps and root; divide
  // NC, multiply NC.
  const Tensor x = Rng(1).normal({10, 4}).set_trainable();
  const Weights weights(4);
  const Work rms = work_of(variant_named("rmsnorm_spelled"), x, weights);
  CHECK(rms.reductions == 1);
  CHECK(rms.flops == 4 * 40 + 3 * 10);
  // Numbers read and written: square 2 NC, sum NC + N, three ops of 2 N (and at most a constant each), divide
  // 2 NC + N, multiply 2 NC + C.
  const double numbers = 7 * 40 + 8 * 10 + 4;
  CHECK(rms.bytes >= 4 * numbers);
  CHECK(rms.bytes <= 4 * (numbers + 3));
  const Work fused = work_of(variant_named("layernorm_fused"), x, weights);
  CHECK(fused.ops == 1);
  CHECK(fused.flops == 8 * 40 + 8 * 10);
  CHECK(fused.bytes == 4 * (2 * 40 + 2 * 4) + 16 * 10);
}

TEST_CASE("norm_speed publishes quotients of times, and counts flops and bytes") {
  const StudyRun run("norm_speed", "--quick --processes 1 --turn_ms 0.2");
  for (const auto& item : run.measured.items()) {
    CAPTURE(item.key());
    CHECK(item.value()["nonfinite"] == 0);
    if (holds(item.key(), "_over_")) CHECK(item.value()["min"] > 0);  // how fast depends on the machine
  }
  // 15 passes to 7, and 12 to 2.
  CHECK(run("forward.1000x512.layernorm_var_over_rmsnorm_spelled", "theory") == doctest::Approx(15.0 / 7));
  CHECK(run("forward.1000x512.layernorm_squares_over_rmsnorm", "theory") == 6);

  const Json& seconds = run.summary["timing"]["seconds"];
  CHECK(seconds["forward.1000x512.triad"]["median"] > 0);
  // A quotient of a round, and that of the best of some rounds, lies between the quotients of the extremes.
  const Json &a = seconds["forward.32x512.dyt"], &b = seconds["forward.32x512.rmsnorm"];
  for (const char* key : {"forward.32x512.dyt_over_rmsnorm", "forward.32x512.dyt_over_rmsnorm.best"}) {
    CHECK(run(key, "max") <= a["max"].get<double>() / b["min"].get<double>());
    CHECK(run(key, "min") >= a["min"].get<double>() / b["max"].get<double>());
  }
  CHECK(run.series("forward.32x512.rmsnorm").numel() == 15);

  // A Newton step squares the estimate's error: 3/2 e², with e below 2^-11 on any x86 and 2^-8 on ARM.
  CHECK(run("root.1000.estimate.relative_error") < 3e-5);
  CHECK(run("root.1000.estimate.relative_error") > 0);
  // Rows of 512 and weights shared by 1000 rows add little to what each element takes.
  struct Counted {
    const char* variant;
    double flops, passes;
  };
  for (const Counted& counted :
       {Counted{"rmsnorm", 6, 2}, Counted{"layernorm_fused", 8, 2}, Counted{"rmsnorm_spelled", 4, 7},
        Counted{"layernorm_squares", 7, 12}, Counted{"layernorm_var", 9, 15}, Counted{"dyt_spelled", 4, 8},
        Counted{"layernorm_no_bias", 7, 2}, Counted{"layernorm_script", 9, 10},
        Counted{"rmsnorm_script", 4, 7}, Counted{"batchnorm", 7, 12}, Counted{"batchnorm_inference", 4, 8}}) {
    const std::string variant = counted.variant;
    CAPTURE(variant);
    CHECK(run("flops." + variant) == doctest::Approx(counted.flops).epsilon(0.01));
    CHECK(run("bytes." + variant) == doctest::Approx(4 * counted.passes).epsilon(0.02));
  }

  // 2 · 4 + 1 biases of 128 among the parameters, and no other difference.
  const std::string saved = "model.parameters.saved_percent";
  CHECK(run(saved) == doctest::Approx(run(saved, "theory")).epsilon(1e-9));
  // Each bias takes a parameter, a gradient and AdamW's two moments, in blocks rounded up to a quarter of a
  // power of two: 9 · 4 · 512 bytes, and LayerNorm keeps nothing else that RMSNorm does not.
  const double difference = run("model.peak_mib.layernorm") - run("model.peak_mib.rmsnorm");
  CHECK(difference >= 9 * 3 * 512.0 / (1 << 20));
  CHECK(difference <= 9 * 8 * 512.0 / (1 << 20));
}

// Each takes seconds of a processor: in .ci/long rest.
TEST_CASE("several processes of norm_speed give a value each" *
          doctest::skip(std::getenv("ISOBAR_THOROUGH") == nullptr)) {
  const StudyRun run("norm_speed", "--shapes 2x8 --turn_ms 0.1 --processes 2");
  for (const char* what : {"step", "inference"}) {
    // Its median over five groups of rounds.
    const std::string key = fmt::format("model.{}.layernorm_over_rmsnorm.best", what);
    CHECK(run.measured[key]["values"].size() == 2);
    const Json other = Json::parse(run.text("process_2/summary.json"))["measured"];
    CHECK(other[key]["values"].size() == 1);
    CHECK(run.measured[key]["values"][1] == other[key]["median"]);
  }
}

}  // namespace isobar::norm_speed_test
