// Wrong and tricky softmaxes and losses. p is the softmax of the logits x (N, V), one the one-hot targets.
#include "layers.h"

namespace isobar::counted_losses {

const bool listed = list_counted({
    by_hand(
        {"softmax and losses", "l1: no gradient for the target", {"detached"}, {"overwritten"}},
        {{4, 5}, {4, 5}}, {}, [](In x, In target) { return abs(x - target); },
        [](In dy, In, In x, In target) {
          return std::vector{dy * sign(x - target), zeros(target.shape(), x.dtype())};
        }),

    // --- right
    layer({"softmax and losses", "cross entropy of equal logits"}, {filled({4, 6}, 3), integers({4}, 6)},
          {{6}}, [](In x, In targets, In b) { return cross_entropy(x + b * 0.001, targets); }),
});

}  // namespace isobar::counted_losses
