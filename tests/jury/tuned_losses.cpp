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
         "softmax without the row's sum",
         {"missing term"},
         {"lost branch", "missing factor", "cross-talk", "attention"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return softmax(x * w); },
        [](In dy, In y, In x, In w) {
          const Tensor dz = y * dy;
          return std::vector{dz * w, dz * x};
        }),

    by_hand(
        {"softmax and losses",
         "softmax over time, summed over channels",
         {"wrong axis", "cross-talk"},
         {"missing term"}},
        {{2, 4, 3}}, {}, [](In x) { return exp(x - logsumexp(x, {1}, true)); },
        [](In dy, In y, In) { return y * (dy - row_sum(dy * y)); }),

    by_hand(
        {"softmax and losses", "cross entropy: sum instead of mean", {"1/N", "constant factor"}},
        {{4, 6}, integers({4}, 6)}, {}, [](In x, In targets) { return cross_entropy(x, targets); },
        [](In dy, In, In x, In targets) {
          return std::vector{dy * (softmax(x) - one_hot(targets, x)), Tensor()};
        }),

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

    by_hand(
        {"softmax and losses",
         "temperature: dτ divided by τ once",
         {"missing factor", "constant factor", "wrong factor"},
         {"row factor"}},
        {{4, 5}}, {uniform({1}, 1.5, 3)}, [](In x, In tau) { return softmax(x / tau); },
        [](In dy, In y, In x, In tau) {
          const Tensor dz = y * (dy - row_sum(dy * y));
          return std::vector{dz / tau, -(dz * x) / tau};
        }),

    // −(1 − p)² ln p with p = sigmoid(x)
    by_hand(
        {"softmax and losses",
         "focal loss: only the logarithm differentiated",
         {"lost branch", "missing term"},
         {"wrong factor"}},
        {{4, 5}}, {}, [](In x) { return square(1 - sigmoid(x)) * softplus(-x); },
        [](In dy, In, In x) {
          const Tensor q = 1 - sigmoid(x);
          return -(dy * square(q) * q);
        }),

    by_hand(
        {"softmax and losses",
         "logsumexp over rows, softmax over columns",
         {"wrong axis", "cross-talk"},
         {"wrong factor"}},
        {{4, 4}}, {}, [](In x) { return logsumexp(x, {0}, true) + x; },
        [](In dy, In, In x) { return softmax(x) * sum(dy, {0}, true) + dy; }),

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
    by_hand(
        {"softmax and losses", "softmax by hand, two columns masked by −1e9"}, {{4, 5}}, {},
        [](In x) {
          const Tensor mask = tensor<bool>({5}, std::vector<bool>{false, true, false, false, true});
          return softmax(where(mask, -1e9, x));
        },
        [](In dy, In y, In) { return y * (dy - row_sum(dy * y)); }),
    layer({"softmax and losses", "hinge and huber at their kinks"}, {{{[](const Rng& rng) {
            return cast(rng.integers({4, 5}, 3), Dtype::f32) - 1.0;
          }}}},
          {}, [](In x) { return relu(1 - x) * 0.3 + huber_loss(x + 0.25, x * 0.5, 0.5, Reduction::none); }),
});

}  // namespace
}  // namespace isobar::tuned_losses
