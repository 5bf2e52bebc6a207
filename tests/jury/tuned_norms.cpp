// Wrong and tricky norms. x (N, C) or (N, C, L); h is the normalized x, r the reciprocal of the deviation.
#include "layers.h"

namespace isobar::tuned_norms {
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

const bool listed = list_tuned({
    by_hand(
        {"norms", "layer norm: dweight uses y", {"wrong factor"}, {"missing factor"}}, {{4, 6}}, {{6}, {6}},
        [](In x, In w, In b) { return layer_norm(x, 6, w, b, 1e-5); },
        [](In dy, In y, In x, In w, In) {
          return std::vector{layer_norm_dx(dy * w, centred(x)), dy * y, dy};
        }),

    by_hand(
        {"norms", "rms norm: r in the second term once", {"missing term", "row factor"}, {"wrong factor"}},
        {{4, 5}}, {{5}}, [](In x, In w) { return rms_norm(x, 5, w, 1e-5); },
        [](In dy, In, In x, In w) {
          const Row row = scaled(x);
          const Tensor dh = dy * w;
          return std::vector{row.r * dh - row.r * x * row_mean(dh * x), dy * row.h};
        }),

    // Groups of 2 channels, each with its L positions.
    by_hand(
        {"norms",
         "group norm: backward's means over positions alone",
         {"wrong axis", "cross-talk", "missing term"}},
        {{2, 4, 3}}, {},
        [](In x) {
          return reshape(centred(reshape(x, {x.size(0), 2, 6})).h, x.shape());
        },
        [](In dy, In, In x) {
          const Row row = centred(reshape(x, {x.size(0), 2, 6}));
          const Shape channels{x.size(0), 2, 2, 3};
          const Tensor d = reshape(dy, channels), h = reshape(row.h, channels);
          const Tensor dx = reshape(row.r, {x.size(0), 2, 1, 1}) * (d - row_mean(d) - h * row_mean(d * h));
          return reshape(dx, x.shape());
        }),

    // w = g v / ‖v‖, one g for each row
    by_hand(
        {"norms",
         "weight norm: dv without the projection",
         {"missing term"},
         {"missing factor", "cross-talk"}},
        {{4, 5}}, {{3, 5}, {3, 1}}, [](In x, In v, In g) { return linear(x, g * v / norm(v, 2, {1}, true)); },
        [](In dy, In, In x, In v, In g) {
          const Tensor length = norm(v, 2, {1}, true), dw = matmul(transpose(dy), x);
          return std::vector{matmul(dy, g * v / length), g / length * dw, sum(dw * v / length, {1}, true)};
        }),

    by_hand(
        {"norms", "layer norm: backward without eps", {"nearly right"}}, {{4, 6}}, {{6}},
        [](In x, In w) { return layer_norm(x, 6, w, {}, 1e-4); },
        [](In dy, In, In x, In w) {
          const Row row = centred(x, 0);
          return std::vector{layer_norm_dx(dy * w, row), dy * row.h};
        }),

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

    by_hand(
        {"norms",
         "layer norm: weight multiplied after the means",
         {"missing factor", "missing term"},
         {"wrong factor"}},
        {{4, 6}}, {{6}, {6}}, [](In x, In w, In b) { return layer_norm(x, 6, w, b, 1e-5); },
        [](In dy, In, In x, In w, In) {
          const Row row = centred(x);
          return std::vector{w * layer_norm_dx(dy, row), dy * row.h, dy};
        }),

    by_hand(
        {"norms",
         "rms norm: backward's statistics over the batch",
         {"wrong axis", "cross-talk"},
         {"missing term", "wrong factor"}},
        {{5, 5}}, {}, [](In x) { return scaled(x).h; },
        [](In dy, In, In x) {
          const Tensor r = rsqrt(mean(square(x), {0}, true) + 1e-5), h = x * r;
          return r * (dy - h * mean(dy * h, {0}, true));
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

    by_hand(
        {"norms",
         "layer norm of the sample variance, backward of the other",
         {"missing term"},
         {"1/N", "constant factor", "nearly right"}},
        {{4, 6}}, {}, [](In x) { return (x - row_mean(x)) * rsqrt(var(x, {1}, true) + 1e-5); },
        [](In dy, In y, In x) {
          const Tensor r = rsqrt(var(x, {1}, true) + 1e-5);
          return r * (dy - row_mean(dy) - y * row_mean(dy * y));
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

    by_hand(
        {"norms", "layer norm of a sum: one input gets the gradient twice", {"constant factor"}},
        {{4, 5}, {4, 5}}, {{5}}, [](In x, In z, In w) { return layer_norm(x + z, 5, w, {}, 1e-5); },
        [](In dy, In, In x, In z, In w) {
          const Row row = centred(x + z);
          const Tensor dx = layer_norm_dx(dy * w, row);
          return std::vector{dx, dx + dx, dy * row.h};
        }),

    // --- right
    layer({"norms", "layer norm of equal rows, eps 0.01"}, {filled({3, 5}, 1.5)}, {{5}, {5}},
          [](In x, In w, In b) { return layer_norm(x, 5, w, b, 1e-2); }),
    by_hand(
        {"norms", "layer norm by hand, mean 100"}, {normal({4, 6}, 100, 1)}, {{6}, {6}},
        [](In x, In w, In b) { return layer_norm(x, 6, w, b, 1e-5); },
        [](In dy, In, In x, In w, In) {
          const Row row = centred(x);
          return std::vector{layer_norm_dx(dy * w, row), dy * row.h, dy};
        }),
    by_hand(
        {"norms", "weight norm by hand, long and short rows"}, {{4, 5}}, {normal({3, 5}, 0, 100), {3, 1}},
        [](In x, In v, In g) { return linear(x, g * v / norm(v, 2, {1}, true)); },
        [](In dy, In, In x, In v, In g) {
          const Tensor length = norm(v, 2, {1}, true), unit = v / length, dw = matmul(transpose(dy), x);
          const Tensor dg = sum(dw * unit, {1}, true);
          return std::vector{matmul(dy, g * unit), g / length * (dw - unit * dg), dg};
        }),
});

}  // namespace
}  // namespace isobar::tuned_norms
