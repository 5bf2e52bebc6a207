// Right layers that are hard to check: gates, attention, pools, time, state.
#include <cmath>

#include "../../autograd/recompute.h"
#include "../../nn/dropout.h"
#include "layers.h"

namespace isobar::tuned_tricky_gates {
namespace {

Draw zeros_and_ones(const Shape& shape) {
  return {std::function([=](const Rng& rng) { return cast(rng.integers(shape, 2), Dtype::f32); })};
}

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
    layer({"tricky", "saturated gate: σ(60 + x)"}, {{4, 3}, {4, 3}}, {{3}},
          [](In x, In g, In w) { return x * w * sigmoid(g + 60); }),
    layer({"tricky", "one expert of three by argmax, times its probability"}, {{4, 3}}, {{3, 3}, {3, 3}},
          [](In x, In gate, In experts) {
            const Tensor p = softmax(linear(x, gate)), best = argmax(p, 1, true);
            const Tensor h = x * index_select(experts, 0, reshape(best, {x.size(0)}));
            return h * gather(p, 1, best);
          }),
    layer({"tricky", "max over pairs, of x that has ties"}, {zeros_and_ones({4, 6})}, {{3}},
          [](In x, In w) {
            return max(reshape(x, {x.size(0), 3, 2}), {2}) * w;
          }),
    layer({"tricky", "an input that y does not depend on"}, {{4, 3}, {4, 3}}, {{3}},
          [](In x, In unused, In w) { return x * w + unused * 0; }),
    layer({"tricky", "tied weights: x W Wᵀ, with ReLU between"}, {{4, 5}}, {{3, 5}},
          [](In x, In w) { return matmul(relu(linear(x, w)), w); }),
    layer({"tricky", "symmetric Jacobian: (W + Wᵀ) x"}, {{4, 5}}, {{5, 5}},
          [](In x, In w) { return linear(x, w + transpose(w)); }),
    layer({"tricky", "pooling of x near 1000 by softmax of x"}, {normal({3, 5}, 1000, 1)}, {},
          [](In x) { return sum(softmax(x) * x, {1}); },
          {.f32_tolerance = 1e-3}),  // f32 numbers near 1000 are 6e-5 apart, and so are the logits
    layer({"tricky", "w of 1e-8 on x of 1e6"}, {normal({4, 3}, 0, 1e6)}, {normal({3}, 0, 1e-8)},
          [](In x, In w) { return tanh(x * w * 100); }),
    layer({"tricky", "twelve recurrent steps"}, {{2, 12, 3}}, {normal({3, 3}, 0, 0.6)},
          [](In x, In u) {
            std::vector<Tensor> h{tanh(slice(x, 1, 0, 1))};
            for (int64_t t = 1; t < 12; ++t) h.push_back(tanh(slice(x, 1, t, t + 1) + linear(h.back(), u)));
            return concat(h, 1);
          }),
    layer({"tricky", "sum of cosines of indices, as positions are"}, {{2, 4, 3}}, {{3}},
          [](In x, In w) {
            const Tensor t = cast(reshape(arange(4), {4, 1}), x.dtype());
            return x * cos(t * w) + transpose(flip(transpose(x), {2})) * sin(t * w);
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
    module({"tricky", "dropout on a residual branch"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<DroppedResidual>(rng); }),
    module({"tricky", "running mean"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<RunningMean>(rng); }),
});

}  // namespace
}  // namespace isobar::tuned_tricky_gates
