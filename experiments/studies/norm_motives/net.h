// Net: Linear, norm, ReLU, again and again, and a Linear to ten digits; and its training.
#pragma once

#include "../../../data/loader.h"
#include "../../../nn/nn.h"
#include "../../nets/digits/changes.h"
#include "../../run/json.h"

namespace isobar::motives {

using depth::Change, depth::changes;

// One training; `images` is how many of the training images it sees.
struct Job {
  std::string label = {}, norm = {};
  double rate = 0;
  int64_t batch = 0, images = 0, steps = 0;
  int64_t rows = 0;     // see AlteredNorm; 0: those of the batch
  double noise = 0;     // see AlteredNorm
  bool shifts = false;  // are measured
  bool pixels = false;  // a norm of the pixels, from 0 to 1, comes first
  uint64_t seed = 0;

  Json settings() const {
    return {{"net", label},     {"norm", norm},     {"learning_rate", rate}, {"batch", batch},
            {"images", images}, {"steps", steps},   {"rows", rows},          {"noise", noise},
            {"shifts", shifts}, {"pixels", pixels}, {"seed", seed}};
  }
};

// In training the norm sees `rows` rows at a time, and each unit of each batch is scaled by U(1, 1 + noise)
// and moved by U(±noise) afterwards. In evaluation it is the norm.
struct AlteredNorm : Module {
  std::unique_ptr<Module> norm;
  int64_t rows;
  double noise;
  Rng rng;
  uint64_t calls = 0;

  AlteredNorm(std::unique_ptr<Module> whole, int64_t rows_at_a_time, double amount, const Rng& random)
      : norm(std::move(whole)), rows(rows_at_a_time), noise(amount), rng(random) {}
  Tensor forward(const Tensor& x) override {
    if (!training()) return (*norm)(x);
    std::vector<Tensor> parts;
    for (const Tensor& part : split(x, rows > 0 ? rows : x.size(0))) parts.push_back((*norm)(part));
    const Tensor y = concat(parts);
    if (noise == 0) return y;
    const Rng now = rng.split(calls++);
    const Shape units{x.size(1)};
    return y * now.split("std").uniform(units, 1, 1 + noise) +
           now.split("mean").uniform(units, -noise, noise);
  }
  void fields(Fields& f) override { f("norm", norm); }
};

// The images are standardised: x = (pixel − 0.1307) / 0.3081.
inline Tensor pixels_of(const Tensor& x) { return x * 0.3081 + 0.1307; }

struct Pixels : Module {
  Tensor forward(const Tensor& x) override { return pixels_of(x); }
};

// E[(x − m)³] / σ³ over all elements.
inline double skewness(const Tensor& x) {
  const Tensor centred = x - mean(x);
  return mean(centred * square(centred)).item() / std::pow(mean(square(centred)).item(), 1.5);
}

// He's weights, biases of 0: the same for all norms of one seed.
inline Sequential net_of(const Job& job, int64_t depth, int64_t width) {
  Sequential net;
  if (job.pixels) {
    net.add(std::make_unique<Pixels>());
    net.add(make_norm(job.norm, {784}));
  }
  const Rng rng = Rng(job.seed).split("net");
  for (int64_t l = 0; l < depth; ++l) {
    const Rng layer = rng.split(static_cast<uint64_t>(l));
    net.add(std::make_unique<Linear>(init::he_normal({width, l == 0 ? 784 : width}, layer), zeros({width})));
    auto norm = make_norm(job.norm, {width});
    if (job.rows > 0 || job.noise > 0)
      norm = std::make_unique<AlteredNorm>(std::move(norm), job.rows, job.noise, layer.split("noise"));
    net.add(std::move(norm));
    net.add(std::make_unique<ReLU>());
  }
  net.add(std::make_unique<Linear>(init::lecun_normal({10, width}, rng.split("head")), zeros({10})));
  return net;
}

// The images of a training step, epoch after epoch, each in an order of its own.
inline Batch batch_of(const depth::Part& part, const Job& job, int64_t step) {
  std::vector<int64_t> numbers;
  for (int64_t i = step * job.batch; i < (step + 1) * job.batch; ++i) {
    const Rng epoch = Rng(job.seed).split("epoch").split(static_cast<uint64_t>(i / job.images));
    numbers.push_back(Permutation(job.images, epoch)(i % job.images));
  }
  return part.batch(numbers);
}

struct Score {
  double loss, accuracy;
};
inline Score evaluate(Sequential& net, const Batch& images) {
  const Tensor logits = net(images.x);
  return {cross_entropy(logits, images.y).item(),
          mean(cast(argmax(logits, -1) == images.y, Dtype::f64)).item()};
}

// --- Config: the settings of norm_motives.

struct Config : HasFields {
  std::vector<double> learning_rates = {0.03, 0.1, 0.3, 1, 3, 10};
  int64_t depth = 4, width = 64, batch = 64, steps = 150, few = 1024, few_steps = 120, small = 2048,
          seeds = 6;
  double target = 0.5, noise = 0.5;

  void fields(Fields& f) override {
    f("learning_rates", learning_rates, "of SGD", above(0));
    f("depth", depth, "hidden layers", at_least(2));
    f("width", width, "units of each", at_least(1));
    f("batch", batch, "images a step", at_least(2));
    f("steps", steps, "of training", at_least(1));
    f("few", few, "training images where the gap between these and unseen ones is measured", at_least(1));
    f("few_steps", few_steps, "of training with these, in batches of 256", at_least(1));
    f("small", small, "training images, each seen once, in batches of 2, 4 and 8", at_least(8));
    f("seeds", seeds, "runs of each net", at_least(1));
    f("target", target, "training loss, in nats", above(0));
    f("noise", noise, "after BatchNorm: a unit's mean moves by up to this, its std grows by up to this share",
      at_least(0));
  }
};

// --- Shift: how far the inputs and the gradients of such a net's layers move in a step.

// Mean and std of each unit over the rows, after each part of the net.
struct Signal {
  Tensor mean, std;
};
inline std::vector<Signal> signals_of(const Sequential& net, Tensor x) {
  std::vector<Signal> seen;
  for (const auto& part : net.parts) {
    x = (*part)(x);
    seen.push_back({mean(x, {0}), std_dev(x, std::vector<int>{0})});
  }
  return seen;
}

// √(Σ of the squares by which means and stds moved / Σ std²), the mean over the layers' parts number 0
// (Linear), 1 (norm) or 2 (ReLU, the next layer's input).
inline double distance(const std::vector<Signal>& from, const std::vector<Signal>& to, size_t part) {
  double total = 0;
  for (size_t i = part; i + 1 < from.size(); i += 3)
    total += std::sqrt(sum(square(to[i].mean - from[i].mean) + square(to[i].std - from[i].std)).item() /
                       sum(square(from[i].std)).item());
  return total / static_cast<double>(from.size() / 3);
}

// |G − G'| / |G|, where G is the gradient of a weight before a step. `of_layers`, the mean over all Linears
// but the first: G' is the one after the layers before it alone have taken the step (Santurkar et al. 2018,
// definition 2.1). `of_step`, of all weights of Linears together: G' is the one after the whole step, on the
// same batch: how badly a gradient predicts the next one (their figure 4b).
struct GradientShift {
  double of_layers, of_step;
};
// Changes `before`.
inline GradientShift gradient_shift(Sequential& before, Sequential& after, const Batch& batch) {
  const auto gradients = [&] {
    clear_gradients(parameters(before));
    Tape tape;
    tape.backward(cross_entropy(before(batch.x), batch.y));
    std::vector<Tensor> dw;
    for (size_t i = 0; i < before.parts.size(); i += 3)
      dw.push_back(clone(parameters(*before.parts[i]).front().grad()));
    return dw;
  };
  const std::vector<Tensor> dw = gradients();
  double total = 0;
  for (size_t layer = 1; layer < dw.size(); ++layer) {
    for (size_t i = 3 * layer - 3; i < 3 * layer; ++i) copy_state(*after.parts[i], *before.parts[i]);
    total += moments_of(gradients()[layer] - dw[layer]).norm / moments_of(dw[layer]).norm;
  }
  copy_state(after, before);
  const std::vector<Tensor> next = gradients();
  double moved = 0, whole = 0;
  for (size_t layer = 0; layer < dw.size(); ++layer) {
    moved += std::pow(moments_of(next[layer] - dw[layer]).norm, 2);
    whole += std::pow(moments_of(dw[layer]).norm, 2);
  }
  return {total / static_cast<double>(dw.size() - 1), std::sqrt(moved / whole)};
}

}  // namespace isobar::motives
