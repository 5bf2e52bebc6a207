// What is known of a norm before it is trained.
#include <doctest/doctest.h>

#include "../../experiments/duel/profile.h"
#include "../../nn/nn.h"
#include "../holds.h"

namespace isobar::duel_profile_test {

using namespace duel;

TEST_CASE("check_norm tells a wrong gradient, and who looks ahead") {
  const Checked right = check_norm(parse_contestant("rmsnorm"));
  CHECK(right.right);
  CHECK_FALSE(right.looks_ahead);
  CHECK(right.line.starts_with("RMSNorm on x [2, 5, 7]: right, "));
  const Checked ahead = check_norm(parse_contestant("batchnorm"));
  CHECK(ahead.right);
  CHECK(ahead.looks_ahead);

  struct Wrong : Module {
    Tensor forward(const Tensor& x) override {
      Tensor y;
      {
        const NoTape pause;
        y = 2 * x;
      }
      return record("wrong", y, {x}, [](const Tensor& dy) { return dy; });
    }
  };
  register_norm("contestant_test.wrong",
                [](const Shape&, const NormOptions&) { return std::make_unique<Wrong>(); });
  const Checked wrong = check_norm(parse_contestant("contestant_test.wrong"));
  CHECK_FALSE(wrong.right);
  CHECK(holds(wrong.line, "WRONG gradient of x"));
}

TEST_CASE("signal and gradient of deep nets die where a norm lets them") {
  // A norm that halves, after He's weights, which keep: 0.5⁹ is above a thousandth, 0.5¹⁰ below. Going down the
  // gradient is halved as well, and that of a layer's weights is what comes down times the signal: the same in
  // each layer.
  const Deep halves = deep_nets(parse_contestant("x / 2"), 0);
  CHECK(halves.signal_dies == 10);
  CHECK(halves.depths[0].layers == 8);
  CHECK(halves.depths[0].signal > 0.5 * std::pow(0.5, 7));
  CHECK(halves.depths[0].signal < 2 * std::pow(0.5, 7));
  CHECK(halves.depths[2].signal == 0);
  const Deep kept = deep_nets(parse_contestant("rmsnorm"), 0);
  CHECK(kept.signal_dies == 0);
  for (const Depth& depth : kept.depths) CHECK(depth.signal == doctest::Approx(1).epsilon(0.3).scale(0));
  // BatchNorm multiplies the squared gradient by 1.467 a layer (Yang et al. 2019): 36 layers for a factor 1000.
  const Deep batch = deep_nets(parse_contestant("batchnorm"), 0);
  CHECK(batch.gradient_dies > 25);
  CHECK(batch.gradient_dies < 50);
}

TEST_CASE("costs are ratios of two in one process") {
  const Contestant rms = parse_contestant("rmsnorm"),
                   slow = parse_contestant("x*w*1*1*1*1*1*1*1*1*1*1*1*1*1*1*1*1");
  const StepMaker steps = [](const Contestant& contestant) {
    auto net = std::make_shared<Sequential>();
    net->add(std::make_unique<Linear>(16, 64, Rng(1)));
    net->add(norm_of(contestant, 64));
    return training_step(net, [](Module& module) { return mean(square(module(Rng(2).normal({256, 16})))); });
  };
  const Costs costs = costs_of(slow, rms, steps, 1e-3);
  CHECK(costs.norm.min > 1);
  CHECK(costs.norm.n == 5);
  CHECK(costs.step.median > 1);
  // What is kept for backward: at least one more array of 256 × 64 floats.
  CHECK(costs.bytes_a > costs.bytes_b + 4 * 256 * 64);
  CHECK(costs.bytes_b > 4 * 256 * 64);
  CHECK(costs.seconds_a > costs.seconds_b);
}

}  // namespace isobar::duel_profile_test
