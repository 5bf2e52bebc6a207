#include "../../optim/schedule.h"

#include <doctest/doctest.h>

namespace isobar::schedule_test {

TEST_CASE("schedules meet their closed forms") {
  SUBCASE("warm-up and cosine") {
    const WarmupCosine schedule{.lr = 1e-3, .min_lr = 1e-4, .warmup = 100, .steps = 2100};
    CHECK(schedule(0) == doctest::Approx(1e-3 / 101).epsilon(1e-15));
    CHECK(schedule(99) == doctest::Approx(1e-3 * 100 / 101).epsilon(1e-15));
    CHECK(schedule(100) == doctest::Approx(1e-3).epsilon(1e-15));
    CHECK(schedule(1100) == doctest::Approx(5.5e-4).epsilon(1e-14));  // half-way: the mean of both
    const double third = 0.5 * (1 + 0.5);                             // cos(π/3) = 1/2
    const WarmupCosine thirds{.lr = 1, .min_lr = 0, .warmup = 0, .steps = 3};
    CHECK(thirds(1) == doctest::Approx(third).epsilon(1e-15));
    CHECK(schedule(2100) == 1e-4);
    CHECK(schedule(5000) == 1e-4);
  }
  SUBCASE("warm-up, stable, decay") {
    const WarmupStableDecay schedule{.lr = 1, .min_lr = 0.2, .warmup = 3, .decay = 4, .steps = 20};
    CHECK(schedule(0) == 0.25);
    CHECK(schedule(2) == 0.75);
    CHECK(schedule(3) == 1);
    CHECK(schedule(15) == 1);
    CHECK(schedule(16) == 1);
    CHECK(schedule(17) == doctest::Approx(0.8).epsilon(1e-15));
    CHECK(schedule(19) == doctest::Approx(0.4).epsilon(1e-15));
    CHECK(schedule(20) == 0.2);
    CHECK(schedule(1000) == 0.2);
  }
  SUBCASE("warm-up and a line, which is WSD without a stable part; and WSD without a decay") {
    const WarmupStableDecay line{.lr = 1, .min_lr = 0, .warmup = 4, .decay = 16, .steps = 20};
    CHECK(line(3) == 0.8);
    CHECK(line(4) == 1);
    CHECK(line(8) == 0.75);
    CHECK(line(19) == 1.0 / 16);
    CHECK(line(20) == 0);
    const WarmupStableDecay flat{.lr = 1, .min_lr = 0, .warmup = 0, .decay = 0, .steps = 20};
    CHECK(flat(0) == 1);
    CHECK(flat(19) == 1);
    CHECK(flat(20) == 0);
  }
  SUBCASE("a schedule that is all warm-up, and one of no steps") {
    CHECK(WarmupCosine{.lr = 1, .min_lr = 0.1, .warmup = 3, .steps = 3}(2) == 0.75);
    CHECK(WarmupCosine{.lr = 1, .min_lr = 0.1, .warmup = 3, .steps = 3}(3) == 0.1);
    CHECK(WarmupCosine{.lr = 1, .min_lr = 0.1, .warmup = 0, .steps = 0}(0) == 0.1);
  }
  SUBCASE("steps") {
    const StepLR schedule{.lr = 0.5, .step_size = 30};
    CHECK(schedule(0) == 0.5);
    CHECK(schedule(29) == 0.5);
    CHECK(schedule(30) == doctest::Approx(0.05).epsilon(1e-15));
    CHECK(schedule(95) == doctest::Approx(5e-4).epsilon(1e-14));
    CHECK(StepLR{.lr = 1, .step_size = 1, .gamma = 0.5}(11) == 0x1p-11);
    CHECK(StepLR{.lr = 1, .step_size = 1, .gamma = 0.5}(int64_t{1} << 60) == 0);
    CHECK(StepLR{.lr = 0.3, .step_size = 7, .gamma = 1}(1000) == 0.3);
  }
  SUBCASE("bad ones") {
    CHECK_THROWS_AS((StepLR{.lr = 1, .step_size = 0}(1)), Error);
    CHECK_THROWS_AS((StepLR{.lr = 1, .step_size = 1}(-1)), Error);
    CHECK_THROWS_AS((WarmupCosine{1, 0, 5, 6}(-1)), Error);
    CHECK_THROWS_AS((WarmupCosine{1, 0, 5, 4}(0)), Error);
    CHECK_THROWS_AS((WarmupStableDecay{1, 0, 3, 2, 4}(0)), Error);
    CHECK_THROWS_AS((WarmupStableDecay{1, 0, 3, 1, 4}(-1)), Error);
  }
}

}  // namespace isobar::schedule_test
