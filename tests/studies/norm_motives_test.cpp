// norm_motives: the parts of its nets, what it measures of shifts.
#include <doctest/doctest.h>

#include "../../experiments/run/measurements.h"
#include "../../experiments/studies/norm_motives/net.h"
#include "../../optim/sgd.h"
#include "study_run.h"

namespace isobar::norm_motives_test {

using namespace isobar::motives;
using doctest::Approx;

std::unique_ptr<Module> batchnorm(int64_t width) { return make_norm("batchnorm", {width}); }

TEST_CASE("a norm over rows at a time is that norm of each piece, and in evaluation the norm itself") {
  AlteredNorm altered(batchnorm(3), 4, 0, Rng(1));
  const Tensor x = Rng(2).normal({12, 3});
  std::vector<Tensor> pieces;
  for (const Tensor& piece : split(x, 4)) pieces.push_back((*batchnorm(3))(piece));
  CHECK(altered(x).to_vector<float>() == concat(pieces).to_vector<float>());
  eval(altered);
  CHECK(altered(x).to_vector<float>() == (*altered.norm)(x).to_vector<float>());
}

TEST_CASE("the distance of signals is that of their means and stds, over the stds") {
  const auto signal = [](double mean, double std) { return Signal{full({4}, mean), full({4}, std)}; };
  // Two layers of three parts, and the head, which does not count.
  const std::vector<Signal> from(7, signal(0, 2));
  std::vector<Signal> to = from;
  to[2] = signal(3, 6);  // √(3² + 4²) / 2
  to[5] = signal(0, 3);  // 1 / 2
  to[6] = signal(100, 100);
  CHECK(distance(from, to, 2) == Approx((2.5 + 0.5) / 2));
  CHECK(distance(from, to, 0) == 0);
}

TEST_CASE("a gradient shifts with the steps of the layers before it, and only with these") {
  const Job job{.norm = "none", .seed = 1};
  Sequential before = net_of(job, 2, 8), after = net_of(job, 2, 8);
  const Batch batch{Rng(4).normal({16, 784}), Rng(5).integers({16}, 10)};
  GradientShift shift = gradient_shift(before, after, batch);
  CHECK(shift.of_layers == 0);
  CHECK(shift.of_step == 0);
  // The head alone took a step: no layer is after it, but its loss has another gradient.
  assign(parameters(after).back(),
         ones({10}) * tensor<float>({10}, std::vector<float>{3, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  shift = gradient_shift(before, after, batch);
  CHECK(shift.of_layers == 0);
  CHECK(shift.of_step > 0.1);
  copy_state(after, before);
  assign(parameters(after).front(), parameters(after).front().detach() * 2);
  CHECK(gradient_shift(before, after, batch).of_layers > 0.1);
}

TEST_CASE("pixels are changed before they are standardised") {
  Sequential pixels(Identity{});
  const Batch black{full({1, 10}, -0.1307 / 0.3081), zeros({1}, Dtype::i64)};
  // Logits of equal pixels: the loss is ln 10 whatever the change; a shift alone cannot be seen there.
  for (const Change& change : changes)
    if (change.noise == 0) CHECK(evaluate(pixels, changed(black, change)).loss == Approx(std::log(10)));
  Batch one = black;
  one.x = concat({full({1, 1}, (1 - 0.1307) / 0.3081), slice(black.x, 1, 0, 9)}, 1);
  // A white pixel among black ones is 1/0.3081 above them, and twice that where pixels are doubled.
  const auto loss = [](double white) { return std::log(std::exp(white) + 9) - white; };
  CHECK(evaluate(pixels, one).loss == Approx(loss(1 / 0.3081)).epsilon(1e-5));
  CHECK(evaluate(pixels, depth::changed(one, {"double", 2})).loss == Approx(loss(2 / 0.3081)).epsilon(1e-4));
  CHECK(evaluate(pixels, depth::changed(one, {"shifted", 1, 0.5})).loss ==
        Approx(loss(1 / 0.3081)).epsilon(1e-5));
}

TEST_CASE("a net with noise has a rate of its own, and pairs are compared with and without a first norm") {
  const StudyRun run("norm_motives",
                     "--learning_rates 0.01,0.3 --width 16 --steps 40 --target 2 --few 8 --few_steps 2 "
                     "--small 8 --seeds 1");
  CHECK(run("none.rate") == 0.3);
  CHECK(run("shift.noisy_none.rate") == 0.01);  // with noise and no norm, the larger one does not learn
  CHECK(run("shift.noisy_none.steps_over_none") == Approx(run("shift.noisy_none.steps") / run("none.steps")));
  for (const std::string first : {"", "skewed."})
    CHECK(run(first + "layernorm.accuracy.same_minus_rmsnorm") ==
          Approx(run(first + "layernorm.accuracy.same") - run(first + "rmsnorm.accuracy.same")));
}

}  // namespace isobar::norm_motives_test
