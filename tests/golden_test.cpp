// Whole trainings against literals: every layer, loss, clip, schedule and optimizer on the way must be right.
#include <doctest/doctest.h>

#include "../data/synthetic.h"
#include "../data/text.h"
#include "../nn/lm/lm.h"
#include "../nn/nn.h"
#include "../optim/optim.h"

namespace isobar::golden_test {

// Element i of tensor number k: scale · sin(1 + k + 0.7 i), as in fixtures/golden_losses.py.
Tensor wave(int64_t k, const Shape& shape, double scale, Dtype dtype) {
  std::vector<double> values(shape.numel());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = scale * std::sin(1 + static_cast<double>(k) + 0.7 * static_cast<double>(i));
  return raw::cast(tensor(shape, values), dtype);
}

struct Model : Module {
  Linear first, second, last;
  RMSNorm rms{16};
  LayerNorm norm{16};

  explicit Model(Dtype dtype)
      : first(wave(0, {16, 6}, 0.4, dtype), wave(1, {16}, 0.1, dtype)),
        second(wave(2, {16, 16}, 0.25, dtype), wave(3, {16}, 0.1, dtype)),
        last(wave(4, {5, 16}, 0.25, dtype), wave(5, {5}, 0.1, dtype)) {
    convert(*this, dtype);
  }
  Tensor forward(const Tensor& x) override {
    const Tensor h = rms(gelu(first(x)));
    return last(h + norm(silu(second(h))));
  }
  void fields(Fields& f) override {
    f("first", first);
    f("rms", rms);
    f("second", second);
    f("norm", norm);
    f("last", last);
  }
};

using MakeOptimizer = std::function<std::unique_ptr<Optimizer>(const std::vector<Tensor>&)>;

std::vector<double> losses_of(const MakeOptimizer& make, Dtype dtype) {
  Model model(dtype);
  const std::unique_ptr<Optimizer> optimizer = make(parameters(model));
  const WarmupCosine schedule{.lr = 2e-2, .min_lr = 2e-3, .warmup = 4, .steps = 20};
  std::vector<double> losses;
  for (int64_t step = 0; step < 20; ++step) {
    std::vector<int64_t> targets;
    for (int64_t row = 0; row < 8; ++row) targets.push_back((row * 3 + step) % 5);
    Tape tape;
    const Tensor loss = cross_entropy(model(wave(10 + step, {8, 6}, 1, dtype)), tensor({8}, targets));
    tape.backward(loss);
    clip_grad_norm(parameters(model), 1.0);
    optimizer->set_lr(schedule(step));
    optimizer->step();
    losses.push_back(loss.item());
  }
  return losses;
}

// Printed by PyTorch 1.13.1 in float64 (fixtures/golden_losses.py).
const std::vector<double> adam_w_losses{
    2.0189847406583548, 1.6398229949246526, 1.3360308734024744, 1.4152987676470394, 1.5155765166545097,
    1.5252339636110757, 1.438299051860736,  1.7113540376466756, 1.362111577604654,  1.7499103319610612,
    1.4450365834692886, 1.9486874313250726, 1.4970379819714186, 2.058169080582314,  1.778819637662861,
    2.194523903448696,  2.139334670744636,  2.366385822373556,  2.315821472189412,  2.647001274864624};
const std::vector<double> nesterov_losses{
    2.0189847406583548, 1.6510588296349045, 1.9753302871247351, 1.6821977878964864, 1.5895587384939234,
    1.394475267075006,  1.3605570335223187, 1.4008166607044554, 1.3009402737728584, 1.5163850268615815,
    1.432338267429012,  1.6270615886697437, 1.4785746352460716, 1.8028355436748682, 1.7009547509610892,
    1.9534465725762362, 2.108491487470289,  2.1642224234837295, 2.260503388081735,  2.449450256228006};

void check_losses(const MakeOptimizer& make, const std::vector<double>& golden) {
  // In f64 both sides make some thousand roundings of 1e-16 a step, which twenty steps amplify; f32's are
  // 6e-8.
  for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
    const double tolerance = dtype == Dtype::f64 ? 1e-9 : 1e-4;
    const std::vector<double> ours = losses_of(make, dtype);
    for (size_t step = 0; step < golden.size(); ++step)
      CHECK_MESSAGE(std::abs(ours[step] - golden[step]) <= tolerance * golden[step], name_of(dtype), " step ",
                    step, ": ", ours[step], " instead of ", golden[step]);
  }
}

TEST_CASE("twenty steps of AdamW lose what PyTorch's lose") {
  check_losses(
      [](const std::vector<Tensor>& parameters) {
        return std::make_unique<AdamW>(parameters, AdamWOptions{.beta2 = 0.99, .weight_decay = 0.1});
      },
      adam_w_losses);
}

TEST_CASE("twenty steps of Nesterov's momentum lose what PyTorch's lose") {
  check_losses(
      [](const std::vector<Tensor>& parameters) {
        return std::make_unique<SGD>(parameters, SGDOptions{.momentum = 0.9, .nesterov = true});
      },
      nesterov_losses);
}

TEST_CASE("a small language model loses what it lost when this line was written") {
  // Our own figures: they catch a change of initial weights, of batches, of dropout's masks or of the loss.
  // C libraries differ between machines, hence the relative 1e-4.
  const std::vector<double> golden{2.78226, 2.7701, 2.7628, 2.77389, 2.75587, 2.72678, 2.7705, 2.72708};
  const Rng rng(3);
  const std::vector<int32_t> text = MarkovSource().generate(10'000, rng.split("text"));
  const TokenDataset data(text, 16, "text");
  LanguageModel model({.vocab_size = MarkovSource::symbols,
                       .block_size = 16,
                       .n_layer = 2,
                       .n_head = 2,
                       .n_kv_head = 1,
                       .n_embd = 16,
                       .qk_norm = true,
                       .dropout = 0.1},
                      rng.split("model"));
  AdamW optimizer(parameters(model), {.lr = 1e-2});
  for (size_t step = 0; step < golden.size(); ++step) {
    const auto [x, y] = data.random_batch(8, rng.split("batch").split(step));
    Tape tape({.rng = rng.split("dropout").split(step)});
    const Tensor loss = cross_entropy(model(x), y);
    tape.backward(loss);
    optimizer.step();
    CHECK_MESSAGE(std::abs(loss.item() - golden[step]) <= 1e-4 * golden[step], "step ", step, ": ",
                  loss.item(), " instead of ", golden[step]);
  }
}

}  // namespace isobar::golden_test
