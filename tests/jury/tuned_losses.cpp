// Wrong and tricky softmaxes and losses. Logits x are (N, V).
#include "layers.h"

namespace isobar::tuned_losses {

Tensor row_sum(In x) { return sum(x, {-1}, true); }

const bool listed = list_tuned({
    by_hand(
        {"softmax and losses", "mse: the target's gradient has the input's sign", {"sign"}}, {{4, 3}, {4, 3}},
        {}, [](In x, In target) { return square(x - target); },
        [](In dy, In, In x, In target) {
          const Tensor dx = dy * (x - target) * 2;
          return std::vector{dx, dx};
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

}  // namespace isobar::tuned_losses
