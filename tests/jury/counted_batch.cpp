// Wrong and tricky layers with statistics over the batch. x (N, C) or (N, C, L); h is the normalized x.
#include "../../autograd/recompute.h"
#include "../../nn/batch_norm.h"
#include "layers.h"

namespace isobar::counted_batch {

Tensor batch_mean(In x) { return mean(x, {0}, true); }

struct Columns {
  Tensor r, h;
};
Columns normalized(In x) {
  const Tensor c = x - batch_mean(x), r = rsqrt(batch_mean(square(c)) + 1e-5);
  return {r, c * r};
}

// Divides by a running largest |x|, which evaluation updates too.
struct RunningScale : Module {
  Tensor weight = ones(3).set_trainable(), largest = ones(3);

  Tensor forward(const Tensor& x) override {
    if (x.size(0) > 0 && !recomputing()) {
      const NoTape pause;
      assign(largest, largest * 0.9 + max(abs(x), {0}) * 0.1);
    }
    return x / clone(largest).detach() * weight;
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("largest", largest);
  }
};

const bool listed = list_counted({
    // x (N, C, L)
    by_hand(
        {"batch statistics",
         "batch norm of images: positions apart in backward",
         {"wrong axis", "cross-talk", "missing term"}},
        {{3, 2, 4}}, {},
        [](In x) {
          const Tensor c = x - mean(x, {0, 2}, true);
          return c * rsqrt(mean(square(c), {0, 2}, true) + 1e-5);
        },
        [](In dy, In y, In x) {
          const Tensor c = x - mean(x, {0, 2}, true), r = rsqrt(mean(square(c), {0, 2}, true) + 1e-5);
          return r * (dy - batch_mean(dy) - y * batch_mean(dy * y));
        }),

    // The sample deviation of one row is 0 / 0.
    layer({"batch statistics", "standardization: NaN for a batch of one", {"batch of 1"}, {"not finite"}},
          {{5, 3}}, {{3}},
          [](In x, In w) { return (x - batch_mean(x)) / (std_dev(x, {0}, true) + 1e-3) * w; }),

    // Adds the mean deviation of the batch as one more channel (Karras et al. 2018).
    by_hand(
        {"batch statistics",
         "deviation as a channel: its gradient not divided by C",
         {"1/N", "missing factor"},
         {"constant factor", "missing term", "lost branch", "row factor"}},
        {{4, 3}}, {},
        [](In x) {
          const Tensor c = x - batch_mean(x);
          const Tensor deviation = mean(sqrt(batch_mean(square(c)) + 1e-5), {1}, true);
          return concat({x, broadcast_to(deviation, {x.size(0), 1})}, 1);
        },
        [](In dy, In, In x) {
          const Columns columns = normalized(x);
          const Tensor d = sum(slice(dy, 1, 3, 4)) / static_cast<double>(x.size(0));
          return slice(dy, 1, 0, 3) + d * columns.h;
        }),

    module({"batch statistics",
            "running scale: evaluation updates it",
            {"train and eval", "repeated calls", "another call"},
            {"save and load"}},
           {{6, 3}}, [](const Rng&) { return std::make_unique<RunningScale>(); }),

    // Statistics of the two halves of the batch apart.
    by_hand(
        {"batch statistics",
         "ghost batch norm: backward's means over both halves",
         {"cross-talk", "missing term"},
         {"wrong axis"}},
        {{8, 2}}, {},
        [](In x) {
          const int64_t half = x.size(0) / 2;
          return concat({normalized(slice(x, 0, 0, half)).h, normalized(slice(x, 0, half, x.size(0))).h}, 0);
        },
        [](In dy, In y, In x) {
          const int64_t half = x.size(0) / 2, n = x.size(0);
          const Tensor dh = dy - batch_mean(dy) - y * batch_mean(dy * y);
          return concat({normalized(slice(x, 0, 0, half)).r * slice(dh, 0, 0, half),
                         normalized(slice(x, 0, half, n)).r * slice(dh, 0, half, n)},
                        0);
        }),

    // --- right
    layer({"batch statistics", "sum of a centred batch: the true gradient is zero"}, {{5, 3}}, {{3}},
          [](In x, In w) { return sum(x - batch_mean(x), {0}, true) + x * 0.0 + w; }),
});

}  // namespace isobar::counted_batch
