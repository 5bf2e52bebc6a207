// Wrong and tricky softmaxes and losses. p is the softmax of the logits x (N, V), one the one-hot targets.
#include "layers.h"

namespace isobar::counted_losses {
namespace {

Tensor one_hot(In targets, In like) {
  return cast(reshape(targets, {targets.numel(), 1}) == arange(like.size(1)), like.dtype());
}
Tensor row_sum(In x) { return sum(x, {-1}, true); }

const bool listed = list_counted({
    by_hand(
        {"softmax and losses",
         "softmax as if it were a sigmoid",
         {"missing term", "cross-talk"},
         {"wrong factor", "attention", "lost branch"}},
        {{4, 5}}, {}, [](In x) { return softmax(x); }, [](In dy, In y, In) { return dy * y * (1 - y); }),

    by_hand(
        {"softmax and losses",
         "log softmax: p dy instead of p times the sum",
         {"missing term", "cross-talk"},
         {"wrong factor", "not summed"}},
        {{3, 6}}, {{6}}, [](In x, In b) { return log_softmax(x + b); },
        [](In dy, In y, In, In) {
          const Tensor dz = dy - exp(y) * dy;
          return std::vector{dz, dz};
        }),

    // Targets are 0.9 one-hot + 0.1 / V.
    by_hand(
        {"softmax and losses",
         "label smoothing forgotten by backward",
         {"missing term"},
         {"nearly right", "wrong factor", "lost branch"}},
        {{4, 6}, integers({4}, 6)}, {},
        [](In x, In targets) {
          return -mean(row_sum(log_softmax(x) * (one_hot(targets, x) * 0.9 + 0.1 / 6)));
        },
        [](In dy, In, In x, In targets) {
          return std::vector{dy * (softmax(x) - one_hot(targets, x)) / static_cast<double>(x.size(0)),
                             Tensor()};
        }),

    // A loss for each row, times the weight of its class.
    by_hand(
        {"softmax and losses",
         "class weights forgotten by backward",
         {"row factor", "missing factor"},
         {"wrong factor"}},
        {{4, 3}, {{[](const Rng&) {
           return tensor<int64_t>({4}, {2, 0, 1, 0});
         }}}},
        {},
        [](In x, In targets) {
          const Tensor weights = cast(tensor<float>({3}, {0.5, 2, 3}), x.dtype());
          return -row_sum(log_softmax(x) * one_hot(targets, x) * weights);
        },
        [](In dy, In, In x, In targets) {
          return std::vector{dy * (softmax(x) - one_hot(targets, x)), Tensor()};
        }),

    // d²/2 where |d| ≤ ½, else ½ (|d| − ¼)
    by_hand(
        {"softmax and losses",
         "huber: outer slope without delta",
         {"one-sided", "missing factor"},
         {"wrong factor", "constant factor"}},
        {{4, 5}}, {{5}},
        [](In x, In c) { return huber_loss(x, broadcast_to(c, x.shape()), 0.5, Reduction::none); },
        [](In dy, In, In x, In c) {
          const Tensor d = x - c, dx = dy * where(abs(d) <= 0.5, d, sign(d));
          return std::vector{dx, -dx};
        }),

    by_hand(
        {"softmax and losses",
         "temperature: dx not divided by it",
         {"missing factor", "constant factor"},
         {"wrong factor"}},
        {{4, 5}}, {uniform({1}, 1.5, 3)}, [](In x, In tau) { return softmax(x / tau); },
        [](In dy, In y, In x, In tau) {
          const Tensor dz = y * (dy - row_sum(dy * y));
          return std::vector{dz, -(dz * x) / square(tau)};
        }),

    // Σ p (ln p − ln q), for p and q from two tensors of logits
    by_hand(
        {"softmax and losses",
         "kl divergence: da without the row's sum",
         {"missing term"},
         {"lost branch", "cross-talk"}},
        {{4, 5}, {4, 5}}, {},
        [](In a, In b) { return row_sum(softmax(a) * (log_softmax(a) - log_softmax(b))); },
        [](In dy, In, In a, In b) {
          const Tensor difference = log_softmax(a) - log_softmax(b);
          return std::vector{dy * softmax(a) * difference, dy * (softmax(b) - softmax(a))};
        }),

    // Row i of x belongs to row i of z.
    by_hand(
        {"softmax and losses",
         "contrastive: dz with p instead of pᵀ",
         {"transposed"},
         {"cross-talk", "misplaced", "wrong axis"}},
        {{4, 3}, {4, 3}}, {{1}},
        [](In x, In z, In s) {
          const Tensor logits = matmul(x, transpose(z)) * s;
          return logsumexp(logits, {1}, true) - row_sum(x * z) * s;
        },
        [](In dy, In, In x, In z, In s) {
          const Tensor p = softmax(matmul(x, transpose(z)) * s) * dy, own = dy * s;
          return std::vector{matmul(p, z) * s - own * z, matmul(p, x) * s - own * x,
                             reshape(sum(p * matmul(x, transpose(z))) - sum(dy * row_sum(x * z)), {1})};
        }),

    by_hand(
        {"softmax and losses", "l1: no gradient for the target", {"detached"}, {"overwritten"}},
        {{4, 5}, {4, 5}}, {}, [](In x, In target) { return abs(x - target); },
        [](In dy, In, In x, In target) {
          return std::vector{dy * sign(x - target), zeros(target.shape(), x.dtype())};
        }),

    by_hand(
        {"softmax and losses",
         "logit of a sum: product of the probabilities' slopes",
         {"wrong factor", "missing factor"},
         {"missing term"}},
        {{4, 5}, {4, 5}}, {}, [](In x, In z) { return sigmoid(x) * sigmoid(z); },
        [](In dy, In, In x, In z) {
          const Tensor p = sigmoid(x), q = sigmoid(z);
          const Tensor both = dy * p * (1 - p) * q * (1 - q);
          return std::vector{both, both};
        }),

    // --- right
    layer({"softmax and losses", "cross entropy of equal logits"}, {filled({4, 6}, 3), integers({4}, 6)},
          {{6}}, [](In x, In targets, In b) { return cross_entropy(x + b * 0.001, targets); }),
    layer({"softmax and losses", "largest logits shared by two classes"}, {{{[](const Rng& rng) {
            const Tensor x = rng.normal({4, 3});
            return concat({x, x}, 1);
          }}}},
          {}, [](In x) { return logsumexp(x, {1}, true) + softmax(x * 30); }),
    by_hand(
        {"softmax and losses", "binary cross entropy by hand, logits of 30"},
        {normal({4, 5}, 0, 30), uniform({4, 5}, 0, 1)}, {},
        [](In x, In t) { return relu(x) - x * t + log1p(exp(-abs(x))); },
        [](In dy, In, In x, In t) {
          return std::vector{dy * (sigmoid(x) - t), -dy * x};
        }),
});

}  // namespace
}  // namespace isobar::counted_losses
