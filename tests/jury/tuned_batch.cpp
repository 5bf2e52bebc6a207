// Wrong and tricky layers with statistics over the batch. x (N, C) or (N, C, L); h is the normalized x.
#include "../../autograd/recompute.h"
#include "../../nn/batch_norm.h"
#include "layers.h"

namespace isobar::tuned_batch {

Tensor batch_mean(In x) { return mean(x, {0}, true); }

struct Columns {
  Tensor r, h;
};
Columns normalized(In x) {
  const Tensor c = x - batch_mean(x), r = rsqrt(batch_mean(square(c)) + 1e-5);
  return {r, c * r};
}
Tensor batch_norm_dx(In dh, const Columns& columns) {
  return columns.r * (dh - batch_mean(dh) - columns.h * batch_mean(dh * columns.h));
}

// BatchNorm whose evaluation has running statistics and whose backward takes the batch's in either mode.
struct TrainingBackward : Module {
  Tensor weight = ones(3).set_trainable(), running_mean = full({3}, 0.3), running_variance = full({3}, 2);

  Tensor forward(const Tensor& x) override {
    if (training() && x.size(0) > 0 && !recomputing()) {
      const NoTape pause;
      assign(running_mean, running_mean * 0.9 + mean(x, {0}) * 0.1);
      assign(running_variance, running_variance * 0.9 + var(x, {0}, false, 0) * 0.1);
    }
    const Tensor m = running_mean, v = running_variance;
    const bool batch = training();
    return fused([=](In in, In w) { return batch ? normalized(in).h * w : (in - m) * rsqrt(v + 1e-5) * w; },
                 [](In dy, In, In in, In w) {
                   const Columns columns = normalized(in);
                   return std::vector{batch_norm_dx(dy * w, columns), dy * columns.h};
                 },
                 x, weight);
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("running_mean", running_mean);
    f.buffer("running_variance", running_variance);
  }
};

const bool listed = list_tuned({
    module({"batch statistics",
            "batch norm: evaluation with the backward of training",
            {"train and eval", "missing term", "cross-talk"}},
           {{6, 3}}, [](const Rng&) { return std::make_unique<TrainingBackward>(); }),

    // --- right
    by_hand(
        {"batch statistics", "batch norm of equal rows, eps 0.01"}, {filled({4, 3}, 2)}, {{3}, {3}},
        [](In x, In w, In b) { return batch_norm(x, w, b, 1e-2); },
        [](In dy, In, In x, In w, In) {
          const Tensor c = x - batch_mean(x), r = rsqrt(batch_mean(square(c)) + 1e-2), h = c * r;
          return std::vector{batch_norm_dx(dy * w, {r, h}), dy * h, dy};
        }),
});

}  // namespace isobar::tuned_batch
