// Wrong gates: one branch multiplies another.
#include "layers.h"

namespace isobar::counted_gates {

const bool listed_cells = list_counted({
    by_hand(
        {"gates", "GRU: h through the reset gate lost", {"lost branch", "missing term"}}, {{4, 3}, {4, 3}},
        {{3, 3}}, [](In x, In h, In u) { return tanh(x + linear(sigmoid(x) * h, u)) * 0.5 + h * 0.5; },
        [](In dy, In y, In x, In h, In u) {
          const Tensor r = sigmoid(x), n = (y - h * 0.5) * 2, dn = dy * 0.5 * (1 - square(n));
          const Tensor drh = matmul(dn, u);
          return std::vector{dn + drh * h * r * (1 - r), dy * 0.5, matmul(transpose(dn), r * h)};
        }),
    by_hand(
        {"gates", "LayerScale: dx without the residual's dy", {"dy added", "lost branch"}, {"missing term"}},
        {{4, 3}}, {{3, 3}, {3}}, [](In x, In w, In scale) { return x + scale * tanh(linear(x, w)); },
        [](In dy, In, In x, In w, In scale) {
          const Tensor t = tanh(linear(x, w)), dt = dy * scale * (1 - square(t));
          return std::vector{matmul(dt, w), matmul(transpose(dt), x), sum(dy * t, {0})};
        }),
});

}  // namespace isobar::counted_gates
