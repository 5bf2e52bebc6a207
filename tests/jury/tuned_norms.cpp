// Wrong and tricky norms. x (N, C) or (N, C, L); h is the normalized x, r the reciprocal of the deviation.
#include "layers.h"

namespace isobar::tuned_norms {

Tensor row_mean(In x) { return mean(x, {-1}, true); }

struct Row {
  Tensor r, h;
};
Row scaled(In x) {
  const Tensor r = rsqrt(row_mean(square(x)) + 1e-5);
  return {r, x * r};
}
const bool listed = list_tuned({
    // The score of normalized queries and keys.
    by_hand(
        {"norms", "qk norm: dk with the query's r", {"row factor", "wrong factor"}, {"missing factor"}},
        {{4, 6}, {4, 6}}, {}, [](In q, In k) { return sum(scaled(q).h * scaled(k).h, {1}, true); },
        [](In dy, In, In q, In k) {
          const Row a = scaled(q), b = scaled(k);
          const auto dx = [&](In r, const Row& row, In dh) {
            return r * (dh - row.h * row_mean(dh * row.h));
          };
          return std::vector{dx(a.r, a, dy * b.h), dx(a.r, b, dy * a.h)};
        }),

    // --- right
    layer({"norms", "layer norm of equal rows, eps 0.01"}, {filled({3, 5}, 1.5)}, {{5}, {5}},
          [](In x, In w, In b) { return layer_norm(x, 5, w, b, 1e-2); }),
});

}  // namespace isobar::tuned_norms
