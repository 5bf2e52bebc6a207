// Wrong and tricky linear layers. x (N, C), weights (outputs, C).
#include "layers.h"

namespace isobar::counted_linear {

const bool listed = list_counted({
    // y (B, H, T, D)
    by_hand(
        {"linear", "heads put back without transposing", {"misplaced", "transposed", "attention"}},
        {{2, 3, 4}}, {{6, 4}},
        [](In x, In w) {
          return transpose(reshape(linear(x, w), {x.size(0), x.size(1), 2, 3}), 1, 2);
        },
        [](In dy, In, In x, In w) {
          const Tensor d = reshape(dy, {x.size(0), x.size(1), 6});
          return std::vector{matmul(d, w), einsum("btm,btc->mc", {d, x})};
        }),

    // --- right
    layer({"linear", "adapter whose second weight starts at zero"}, {{4, 5}},
          {{3, 5}, {2, 5}, filled({3, 2}, 0)},
          [](In x, In w, In a, In b) { return linear(x, w) + linear(linear(x, a), b) * 2; }),
});

}  // namespace isobar::counted_linear
