// Wrong and tricky norms. x (N, C) or (N, C, L); h is the normalized x, r the reciprocal of the deviation.
#include "layers.h"

namespace isobar::tuned_norms {

Tensor row_mean(In x) { return mean(x, {-1}, true); }

struct Row {
  Tensor r, h;
};
Row centred(In x) {
  const Tensor c = x - row_mean(x), r = rsqrt(row_mean(square(c)) + 1e-5);
  return {r, c * r};
}
Row scaled(In x) {
  const Tensor r = rsqrt(row_mean(square(x)) + 1e-5);
  return {r, x * r};
}
Tensor layer_norm_dx(In dh, const Row& row) {
  return row.r * (dh - row_mean(dh) - row.h * row_mean(dh * row.h));
}

const bool listed = list_tuned({
    by_hand(
        {"norms",
         "pre-norm block: the residual's dy left out",
         {"dy added", "lost branch"},
         {"missing term"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return x + rms_norm(x, 5, w, 1e-5); },
        [](In dy, In, In x, In w) {
          const Row row = scaled(x);
          const Tensor dh = dy * w;
          return std::vector{row.r * (dh - row.h * row_mean(dh * row.h)), dy * row.h};
        }),

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

    layer({"norms", "layer norm: composed form without the weight", {"composed form"}}, {{4, 6}}, {{6}, {6}},
          [](In x, In w, In b) {
            if (composed_wanted()) return centred(x).h + b;
            return fused([](In v, In s, In t) { return layer_norm(v, 6, s, t, 1e-5); },
                         [](In dy, In, In v, In s, In) {
                           const Row row = centred(v);
                           return std::vector{layer_norm_dx(dy * s, row), dy * row.h, dy};
                         },
                         x, w, b);
          }),

    // --- right
    layer({"norms", "layer norm of equal rows, eps 0.01"}, {filled({3, 5}, 1.5)}, {{5}, {5}},
          [](In x, In w, In b) { return layer_norm(x, 5, w, b, 1e-2); }),
});

}  // namespace isobar::tuned_norms
