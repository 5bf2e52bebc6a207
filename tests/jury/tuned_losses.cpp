// Wrong and tricky softmaxes and losses. p is the softmax of the logits x (N, V), one the one-hot targets.
#include "layers.h"

namespace isobar::tuned_losses {
namespace {

Tensor one_hot(In targets, In like) {
  return cast(reshape(targets, {targets.numel(), 1}) == arange(like.size(1)), like.dtype());
}
Tensor row_sum(In x) { return sum(x, {-1}, true); }

const bool listed = list_tuned({

    by_hand(
        {"softmax and losses",
         "softmax over time, summed over channels",
         {"wrong axis", "cross-talk"},
         {"missing term"}},
        {{2, 4, 3}}, {}, [](In x) { return exp(x - logsumexp(x, {1}, true)); },
        [](In dy, In y, In) { return y * (dy - row_sum(dy * y)); }),

    // Target 0 means padding; a loss for each row.
    by_hand(
        {"softmax and losses",
         "cross entropy: padding gets a gradient",
         {"cross-talk", "missing factor", "row factor"},
         {"wrong factor"}},
        {{4, 5}, {{[](const Rng&) {
           return tensor<int64_t>({4}, {3, 0, 1, 0});
         }}}},
        {},
        [](In x, In targets) {
          return -sum(log_softmax(x) * one_hot(targets, x), {1}) * cast(targets > 0, x.dtype());
        },
        [](In dy, In, In x, In targets) {
          return std::vector{reshape(dy, {x.size(0), 1}) * (softmax(x) - one_hot(targets, x)), Tensor()};
        }),

    by_hand(
        {"softmax and losses", "mse: the target's gradient has the input's sign", {"sign"}}, {{4, 3}, {4, 3}},
        {}, [](In x, In target) { return square(x - target); },
        [](In dy, In, In x, In target) {
          const Tensor dx = dy * (x - target) * 2;
          return std::vector{dx, dx};
        }),

    // max(0, 1 − t x), the targets t are −1 and 1
    by_hand(
        {"softmax and losses",
         "hinge: mask by the sign of x",
         {"one-sided", "wrong factor"},
         {"missing factor", "cross-talk"}},
        {{4, 5}, {{[](const Rng& rng) {
           return rng.integers({4, 5}, 2);
         }}}},
        {}, [](In x, In targets) { return relu(1 - x * (cast(targets, x.dtype()) * 2 - 1.0)); },
        [](In dy, In, In x, In targets) {
          return std::vector{where(x > 0, -(dy * (cast(targets, x.dtype()) * 2 - 1.0)), 0.0), Tensor()};
        }),

    by_hand(
        {"softmax and losses",
         "cosine loss: dz has x's length in it",
         {"row factor", "wrong factor"},
         {"missing factor"}},
        {{4, 5}, {4, 5}}, {},
        [](In x, In z) { return 1 - row_sum(x * z) / (norm(x, 2, {1}, true) * norm(z, 2, {1}, true)); },
        [](In dy, In, In x, In z) {
          const Tensor a = norm(x, 2, {1}, true), b = norm(z, 2, {1}, true);
          const Tensor cosine = row_sum(x * z) / (a * b);
          const Tensor dx = (z / b - x / a * cosine) / a, dz = (x / a - z / b * cosine) / a;
          return std::vector{-dy * dx, -dy * dz};
        }),

    // --- right
    layer({"softmax and losses", "cross entropy of logits of 50, targets nearly certain"},
          {normal({4, 6}, 0, 50), integers({4}, 6)}, {},
          [](In x, In targets) { return cross_entropy(x, targets); }),
});

}  // namespace
}  // namespace isobar::tuned_losses
