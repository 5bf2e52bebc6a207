// norm_motives: the parts of its nets, what it measures of shifts, and the built program.
#include <doctest/doctest.h>

#include "../../experiments/harness/measurements.h"
#include "../../experiments/norm_motives/net.h"
#include "../../optim/sgd.h"
#include "study_run.h"

namespace isobar::norm_motives_test {

using namespace isobar::motives;
using doctest::Approx;

constexpr const char* small =
    " --width 8 --steps 3 --few 8 --few_steps 2 --small 8 --seeds 2 --learning_rates 0.1,1";

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

TEST_CASE("noise gives each unit a mean and a std of its own, anew at each call") {
  AlteredNorm altered(batchnorm(64), 0, 0.5, Rng(1));
  const Tensor x = Rng(2).normal({32, 64});
  const Tensor first = altered(x), second = altered(x);
  const Tensor means = mean(first, {0}), stds = std_dev(first, std::vector<int>{0});
  // U(±0.5) has a std of 0.289, U(1, 1.5) a mean of 1.25; 64 units err by an eighth.
  CHECK(moments_of(means).std == Approx(0.289).epsilon(0.2).scale(0));
  CHECK(moments_of(stds).mean == Approx(1.25 * std::sqrt(32.0 / 31)).epsilon(0.03));
  CHECK(max(abs(means)).item() < 0.51);
  CHECK(moments_of(first - second).rms > 0.3);
  eval(altered);
  CHECK(altered(x).to_vector<float>() == altered(x).to_vector<float>());
}

TEST_CASE("nets of one seed share their weights whatever their norm") {
  const Sequential none = net_of({.norm = "none", .seed = 3}, 2, 8),
                   other = net_of({.norm = "rmsnorm", .seed = 3}, 2, 8);
  for (const size_t part : {0, 3, 6})
    CHECK(parameters(*none.parts[part]).front().to_vector<float>() ==
          parameters(*other.parts[part]).front().to_vector<float>());
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
  CHECK(evaluate(pixels, changed(one, {"double", 2})).loss == Approx(loss(2 / 0.3081)).epsilon(1e-4));
  CHECK(evaluate(pixels, changed(one, {"shifted", 1, 0.5})).loss == Approx(loss(1 / 0.3081)).epsilon(1e-5));
}

TEST_CASE("a net of skewed pixels begins with a norm of them") {
  Sequential net = net_of({.norm = "rmsnorm", .pixels = true, .seed = 3}, 2, 8);
  const Tensor x = Rng(4).normal({4, 784}), y = (*net.parts[1])((*net.parts[0])(x));
  CHECK(mean(square(y)).item() == Approx(1).epsilon(1e-3));
  CHECK(max(abs((*net.parts[0])(x) - (x * 0.3081 + 0.1307))).item() < 1e-6);
  // One of four values at 1, the others at 0: (p(1 − p)(1 − 2p)) / (p(1 − p))^1.5 = 1.1547.
  CHECK(skewness(tensor<float>({4}, std::vector<float>{1, 0, 0, 0})) == Approx(1.1547).epsilon(1e-4));
}

TEST_CASE("an epoch has each of the images once, in an order of its own") {
  const depth::Digits digits = depth::read_digits("");
  const Job job{.batch = 4, .images = 8, .seed = 1};
  const auto of = [&](int64_t step) { return batch_of(digits.train, job, step).x; };
  const Tensor first = concat({of(0), of(1)}), second = concat({of(2), of(3)}),
               all = first_of(digits.train, 8).x;
  for (const Tensor& epoch : {first, second})
    CHECK(sum(epoch).item() == Approx(sum(all).item()).epsilon(1e-4));
  CHECK(first.to_vector<float>() != second.to_vector<float>());
}

TEST_CASE("norm_motives publishes its keys") {
  const StudyRun run("norm_motives", small);
  for (const char* key :
       {"none.steps", "batchnorm.largest_rate_over_none", "batchnorm.steps_over_none",
        "rmsnorm.accuracy.shifted_minus_none", "shift.batchnorm.shift_of_inputs_over_none",
        "shift.batchnorm_slow.steps_over_none", "shift.noisy.steps_over_batchnorm",
        "shift.batchnorm.shift_in_a_step_of_gradients_over_none", "layernorm_plain.loss.seen_minus_layernorm",
        "skewed.layernorm.accuracy.same_minus_rmsnorm", "skewed.layernorm.steps_over_rmsnorm",
        "few.statistics8.gap.loss_minus_statistics256", "batch2.batchnorm.accuracy.same_minus_groupnorm"})
    CHECK_MESSAGE(run.has(key), key);
  CHECK(run("none.steps") == 3);  // three steps reach no target
  CHECK(run("batchnorm.steps_over_none") == 1);
  // A step of SGD at least moves something, and a batch norm's inputs have its own std.
  CHECK(run("shift.none.shift_of_inputs", "min") > 0);
  CHECK(run("batch2.batchnorm.rate") == Approx(run("batchnorm.rate") * std::sqrt(2.0 / 64)));
}

}  // namespace isobar::norm_motives_test
