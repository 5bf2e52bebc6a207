// Right layers that are hard to check: gates, attention, losses, pools, time, state, shapes.
#include <cmath>

#include "../../autograd/recompute.h"
#include "../../nn/dropout.h"
#include "../../nn/linear.h"
#include "../../nn/model.h"
#include "layers.h"

namespace isobar::tuned_tricky_gates {

// The first element of each row is always real.
Draw some_real(int64_t batch, int64_t length) {
  return {std::function([=](const Rng& rng) {
    std::vector<bool> real(batch * length);
    for (int64_t i = 0; i < batch * length; ++i) real[i] = i % length == 0 || rng.uniform_at(i) > 0.4;
    return tensor({batch, length}, real);
  })};
}

Tensor over_queries(In mask) { return reshape(mask, {mask.size(0), 1, mask.size(1)}); }

// y = base(x) + x aᵀ bᵀ; the base is frozen.
struct Lora : Module {
  Linear base;
  Tensor a, b;

  explicit Lora(const Rng& rng)
      : base(5, 3, rng.split("base")),
        a(rng.split("a").normal({2, 5}).set_trainable()),
        b(rng.split("b").normal({3, 2}).set_trainable()) {
    for (Tensor& frozen : parameters(base)) frozen.set_trainable(false);
  }
  Tensor forward(const Tensor& x) override { return base(x) + linear(linear(x, a), b); }
  void fields(Fields& f) override {
    f("base", base);
    f("a", a);
    f("b", b);
  }
};

const bool listed = list_tuned({
    by_hand(
        {"tricky", "attention where all but one key are masked for the first query"},
        {{2, 3, 4}, {2, 3, 4}, {2, 3, 4}}, {},
        [](In q, In k, In v) {
          const Tensor t = reshape(arange(3), {3, 1}), logits = matmul(q, transpose(k));
          return matmul(softmax(where(arange(3) <= t, logits, -1e30)), v);
        },
        [](In dy, In, In q, In k, In v) {
          const Tensor t = reshape(arange(3), {3, 1}), logits = matmul(q, transpose(k));
          const Tensor p = softmax(where(arange(3) <= t, logits, -1e30)), dp = matmul(dy, transpose(v));
          const Tensor ds = p * (dp - sum(p * dp, {-1}, true));
          return std::vector{matmul(ds, k), matmul(transpose(ds), q), matmul(transpose(p), dy)};
        }),
    layer({"tricky", "saturated softmax: logits of 1e3"}, {normal({3, 5}, 0, 1e3)}, {{5}},
          [](In x, In w) { return softmax(x) * w; }),
    by_hand(
        {"tricky", "cross-attention with a padding mask"}, {{3, 2, 4}, {3, 5, 4}, some_real(3, 5)}, {},
        [](In x, In memory, In mask) {
          const Tensor logits = matmul(x, transpose(memory));
          return matmul(softmax(where(over_queries(mask), logits, -1e30)), memory);
        },
        [](In dy, In, In x, In memory, In mask) {
          const Tensor logits = matmul(x, transpose(memory));
          const Tensor p = softmax(where(over_queries(mask), logits, -1e30));
          const Tensor dp = matmul(dy, transpose(memory)), ds = p * (dp - sum(p * dp, {-1}, true));
          return std::vector{matmul(ds, memory), matmul(transpose(ds), x) + matmul(transpose(p), dy),
                             Tensor()};
        }),
    layer({"softmax and losses", "cross entropy of logits of 50, targets nearly certain"},
          {normal({4, 6}, 0, 50), integers({4}, 6)}, {},
          [](In x, In targets) { return cross_entropy(x, targets); }),
    by_hand(
        {"linear", "tied autoencoder with orthogonal rows"}, {{4, 3}}, {{[](const Rng& rng) {
          const double angle = rng.uniform_at(0) * 6;
          const float c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
          return tensor<float>({2, 3}, {c, s, 0, -s, c, 0});
        }}},
        [](In x, In w) { return matmul(matmul(x, transpose(w)), w); },
        [](In dy, In, In x, In w) {
          const Tensor code = matmul(x, transpose(w)), dcode = matmul(dy, transpose(w));
          return std::vector{matmul(dcode, w), matmul(transpose(code), dy) + matmul(transpose(dcode), x)};
        }),
});

// y = x + dropout(x W).
struct DroppedResidual : Module {
  Tensor weight;
  Dropout dropout{0.3};

  explicit DroppedResidual(const Rng& rng) : weight(rng.normal({5, 5}).set_trainable()) {}
  Tensor forward(const Tensor& x) override { return x + dropout(linear(x, weight)); }
  void fields(Fields& f) override {
    f("weight", weight);
    f("dropout", dropout);
  }
};

// y = (x − running mean) · weight; the mean moves in training and knows empty batches and recompute().
struct RunningMean : Module {
  Tensor weight, running_mean = zeros({5});

  explicit RunningMean(const Rng& rng) : weight(rng.normal({5}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    const Tensor centre = training() ? mean(x, {0}) : running_mean;
    if (training() && x.size(0) > 0 && !recomputing()) {
      const NoTape pause;
      assign(running_mean, running_mean * 0.9 + mean(x, {0}) * 0.1);
    }
    return (x - centre) * weight;
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("running_mean", running_mean);
  }
};

const bool listed_modules = list_tuned({
    module({"shapes", "LoRA over a frozen Linear"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<Lora>(rng); }),
    layer({"shapes", "Gram matrix (N, N)"}, {{4, 5}}, {{5}},
          [](In x, In w) { return matmul(x * w, transpose(x)); }, {.batch = false}),
    module({"tricky", "dropout on a residual branch"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<DroppedResidual>(rng); }),
    module({"tricky", "running mean"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<RunningMean>(rng); }),
});

}  // namespace isobar::tuned_tricky_gates
