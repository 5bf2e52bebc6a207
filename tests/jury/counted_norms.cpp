// Wrong and tricky norms. x (N, C) or (N, C, L); h is the normalized x, r the reciprocal of the deviation.
#include "layers.h"

namespace isobar::counted_norms {
namespace {

Tensor row_mean(In x) { return mean(x, {-1}, true); }

struct Row {
  Tensor r, h;
};
Row centred(In x, double eps = 1e-5) {
  const Tensor c = x - row_mean(x), r = rsqrt(row_mean(square(c)) + eps);
  return {r, c * r};
}
Row scaled(In x, double eps = 1e-5) {
  const Tensor r = rsqrt(row_mean(square(x)) + eps);
  return {r, x * r};
}
Tensor layer_norm_dx(In dh, const Row& row) {
  return row.r * (dh - row_mean(dh) - row.h * row_mean(dh * row.h));
}
Tensor rms_norm_dx(In dh, const Row& row) { return row.r * (dh - row.h * row_mean(dh * row.h)); }

const bool listed = list_counted({
    by_hand(
        {"norms", "rms norm: dweight uses x", {"wrong factor", "row factor", "missing factor"}}, {{4, 6}},
        {{6}}, [](In x, In w) { return rms_norm(x, 6, w, 1e-5); },
        [](In dy, In, In x, In w) {
          return std::vector{rms_norm_dx(dy * w, scaled(x)), dy * x};
        }),

    by_hand(
        {"norms",
         "layer norm: variance's part with the centred x",
         {"missing term", "row factor"},
         {"wrong factor"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return layer_norm(x, 5, w, {}, 1e-5); },
        [](In dy, In, In x, In w) {
          const Row row = centred(x);
          const Tensor dh = dy * w, c = x - row_mean(x);
          return std::vector{row.r * (dh - row_mean(dh) - c * row_mean(dh * row.h)), dy * row.h};
        }),

    // Normalized over the last two dimensions.
    by_hand(
        {"norms",
         "layer norm of images: backward's means over columns alone",
         {"wrong axis", "cross-talk", "missing term"}},
        {{2, 3, 4}}, {},
        [](In x) {
          const Tensor c = x - mean(x, {1, 2}, true);
          return c * rsqrt(mean(square(c), {1, 2}, true) + 1e-5);
        },
        [](In dy, In y, In x) {
          const Tensor c = x - mean(x, {1, 2}, true), r = rsqrt(mean(square(c), {1, 2}, true) + 1e-5);
          return r * (dy - row_mean(dy) - y * row_mean(dy * y));
        }),

    // w = g v / ‖v‖, one g for each row
    by_hand(
        {"norms",
         "weight norm: dg with v instead of the unit vector",
         {"row factor", "missing factor", "wrong factor"}},
        {{4, 5}}, {{3, 5}, {3, 1}}, [](In x, In v, In g) { return linear(x, g * v / norm(v, 2, {1}, true)); },
        [](In dy, In, In x, In v, In g) {
          const Tensor length = norm(v, 2, {1}, true), unit = v / length, dw = matmul(transpose(dy), x);
          return std::vector{matmul(dy, g * unit), g / length * (dw - unit * sum(dw * unit, {1}, true)),
                             sum(dw * v, {1}, true)};
        }),

    by_hand(
        {"norms", "rms norm: eps outside of the root in backward", {"nearly right"}}, {{4, 6}}, {{6}},
        [](In x, In w) { return rms_norm(x, 6, w, 1e-4); },
        [](In dy, In, In x, In w) {
          const Tensor r = reciprocal(sqrt(row_mean(square(x))) + 1e-4);
          return std::vector{rms_norm_dx(dy * w, {r, x * r}), dy * x * r};
        }),

    by_hand(
        {"norms", "pre-norm block: the residual's dy twice", {"dy added"}, {"lost branch", "missing term"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return x + layer_norm(x, 5, w, {}, 1e-5); },
        [](In dy, In, In x, In w) {
          const Row row = centred(x);
          return std::vector{layer_norm_dx(dy * w, row) + dy * 2, dy * row.h};
        }),

    by_hand(
        {"norms", "layer norm: dx with bias for weight", {"wrong factor"}, {"missing factor"}}, {{4, 6}},
        {{6}, {6}}, [](In x, In w, In b) { return layer_norm(x, 6, w, b, 1e-5); },
        [](In dy, In, In x, In, In b) {
          const Row row = centred(x);
          return std::vector{layer_norm_dx(dy * b, row), dy * row.h, dy};
        }),

    by_hand(
        {"norms", "unit rows: not divided by the length", {"row factor", "missing factor"}, {"wrong factor"}},
        {{4, 5}}, {}, [](In x) { return x / norm(x, 2, {1}, true); },
        [](In dy, In y, In) { return dy - y * sum(dy * y, {1}, true); }),

    by_hand(
        {"norms",
         "group norm: dweight of the last sample only",
         {"overwritten"},
         {"not summed", "cross-talk"}},
        {{3, 4, 2}}, {{4}, {4}}, [](In x, In w, In b) { return group_norm(x, 2, w, b, 1e-5); },
        [](In dy, In, In x, In w, In) {
          const int64_t n = x.size(0);
          const Row row = centred(reshape(x, {n, 2, 4}));
          const Tensor h = reshape(row.h, x.shape()), dh = reshape(dy * reshape(w, {1, 4, 1}), {n, 2, 4});
          Tensor dw = zeros({4}, x.dtype());
          for (int64_t i = 0; i < n; ++i) dw = sum(slice(dy, 0, i, i + 1) * slice(h, 0, i, i + 1), {0, 2});
          return std::vector{reshape(layer_norm_dx(dh, row), x.shape()), dw, sum(dy, {0, 2})};
        }),

    // The mean square is taken over the first 3 elements.
    by_hand(
        {"norms",
         "partial rms norm: the mean's part given to all elements",
         {"missing term", "cross-talk"},
         {"misplaced", "wrong axis"}},
        {{4, 6}}, {}, [](In x) { return x * rsqrt(row_mean(square(slice(x, 1, 0, 3))) + 1e-5); },
        [](In dy, In y, In x) {
          const Tensor r = rsqrt(row_mean(square(slice(x, 1, 0, 3))) + 1e-5);
          return r * (dy - y * sum(dy * y, {1}, true) / 3);
        }),

    layer({"norms", "rms norm: composed form with eps outside of the root", {"composed form"}}, {{4, 6}},
          {{6}},
          [](In x, In w) {
            if (composed_wanted()) return x / (sqrt(row_mean(square(x))) + 1e-2) * w;
            return fused([](In v, In s) { return rms_norm(v, 6, s, 1e-2); },
                         [](In dy, In, In v, In s) {
                           const Row row = scaled(v, 1e-2);
                           return std::vector{rms_norm_dx(dy * s, row), dy * row.h};
                         },
                         x, w);
          }),

    // y = (x − mean) · weight
    by_hand(
        {"norms",
         "centring: the mean of dy instead of that of dy weight",
         {"missing factor", "missing term"},
         {"wrong factor"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return (x - row_mean(x)) * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w - row_mean(dy), dy * (x - row_mean(x))};
        }),

    // --- right
    layer({"norms", "rms norm of numbers of 1e-8"}, {normal({4, 5}, 0, 1e-8)}, {{5}},
          [](In x, In w) { return rms_norm(x, 5, w, 1e-5); }),
    by_hand(
        {"norms", "unit rows by hand, numbers of 1e6"}, {normal({4, 5}, 0, 1e6)}, {{5}},
        [](In x, In w) { return x / norm(x, 2, {1}, true) * w; },
        [](In dy, In, In x, In w) {
          const Tensor length = norm(x, 2, {1}, true), h = x / length, dh = dy * w;
          return std::vector{(dh - h * sum(dh * h, {1}, true)) / length, dy * h};
        }),
    layer({"norms", "layer norm twice: the second changes little"}, {{4, 6}}, {filled({6}, 1)},
          [](In x, In w) { return layer_norm(layer_norm(x, 6, {}, {}, 1e-6), 6, w, {}, 1e-6); }),
});

}  // namespace
}  // namespace isobar::counted_norms
