// Net: Linear, norm and ReLU, again and again, and a Linear to ten digits; what a training of it is; how it does on
// changed digits.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../../data/permutation.h"
#include "../../nn/nn.h"
#include "../depth/digits.h"

namespace isobar::motives {

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
};

// In training the norm sees `rows` rows at a time, and each unit of each batch is scaled by U(1, 1 + noise) and
// moved by U(±noise) afterwards. In evaluation it is the norm.
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

// The first n, or all.
inline Batch first_of(const depth::Part& part, int64_t n) {
  std::vector<int64_t> numbers(static_cast<size_t>(std::min(n, part.size())));
  std::iota(numbers.begin(), numbers.end(), 0);
  return part.batch(numbers);
}

// Pixels, from 0 to 1, become scale · pixel + shift + N(0, noise²).
struct Change {
  const char* name;
  double scale = 1, shift = 0, noise = 0;
};
constexpr Change changes[] = {
    {"same"}, {"half", 0.5}, {"double", 2}, {"shifted", 1, 0.5}, {"noisy", 1, 0, 0.5}};

struct Score {
  double loss, accuracy;
};
inline Score evaluate(Sequential& net, const Batch& images, const Change& change = changes[0]) {
  Tensor x = images.x * change.scale + ((change.scale - 1) * 0.1307 + change.shift) / 0.3081;
  if (change.noise > 0) x = x + Rng(1).normal(x.shape(), 0, change.noise / 0.3081);
  const Tensor logits = net(x);
  return {cross_entropy(logits, images.y).item(),
          mean(cast(argmax(logits, -1) == images.y, Dtype::f64)).item()};
}

}  // namespace isobar::motives
