// Right layers that are hard to check: gates, attention, pools, time, state.

#include "../../autograd/recompute.h"
#include "../../nn/dropout.h"
#include "layers.h"

namespace isobar::tuned_tricky_gates {
namespace {

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
    module({"tricky", "dropout on a residual branch"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<DroppedResidual>(rng); }),
    module({"tricky", "running mean"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<RunningMean>(rng); }),
});

}  // namespace
}  // namespace isobar::tuned_tricky_gates
