// Wrong and tricky layers where extents matter: tails, batches of one, large batches. x (N, C).
#include "layers.h"

namespace isobar::counted_size {

// Divides by the number of rows of its first call.
struct FirstBatch : Module {
  Tensor weight = ones(3).set_trainable();
  double rows = 0;

  Tensor forward(const Tensor& x) override {
    if (rows == 0) rows = static_cast<double>(x.size(0));
    return sum(x, {0}, true) / rows * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// Chooses its scale from the first input and never again.
struct FirstScale : Module {
  Tensor weight = ones(4).set_trainable();
  double scale = 0;

  Tensor forward(const Tensor& x) override {
    if (scale == 0 && x.numel() > 0) scale = 1 / (1e-3 + norm(x.detach()).item());
    return x * weight * scale;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

const bool listed = list_counted({
    by_hand(
        {"size", "centring: a batch of one not summed over channels", {"batch of 1"}}, {{4, 5}}, {{5}},
        [](In x, In w) { return (x - mean(x, {-1}, true)) * w; },
        [](In dy, In, In x, In w) {
          const Tensor c = x - mean(x, {-1}, true), dc = dy * w;
          // "One row: nothing to centre."
          if (x.size(0) == 1) return std::vector{dc, dy * c};
          return std::vector{dc - mean(dc, {-1}, true), dy * c};
        }),

    by_hand(
        {"size", "rows from 256 on get no gradient", {"large batch"}, {}}, {{4, 5}}, {{5}},
        [](In x, In w) { return square(x) * w; },
        [](In dy, In, In x, In w) {
          const int64_t rows = std::min<int64_t>(x.size(0), 256);
          const Tensor done = slice(dy * x * w * 2, 0, 0, rows);
          return std::vector{pad(done, {0, 0, 0, x.size(0) - rows}), dy * square(x)};
        }),

    module({"size",
            "divided by the rows of the first call",
            {"another call", "batch of 1", "large batch"},
            {"batch of 0"}},
           {{4, 3}}, [](const Rng&) { return std::make_unique<FirstBatch>(); }),

    module({"size", "scale chosen from the first input", {"another call"}, {"fields", "save and load"}},
           {{5, 4}}, [](const Rng&) { return std::make_unique<FirstScale>(); }),

    layer({"size", "an empty batch keeps its shape", {"batch of 0"}, {"forward"}}, {{4, 3}}, {{5, 3}},
          [](In x, In w) { return x.numel() == 0 ? x : tanh(linear(x, w)); }),

    // --- right
    layer({"size", "mean over a batch of any size, a scalar"}, {{6, 3}}, {{3}},
          [](In x, In w) { return sum(tanh(x * w)) / static_cast<double>(std::max<int64_t>(1, x.size(0))); }),
});

}  // namespace isobar::counted_size
