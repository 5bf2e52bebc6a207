// Wrong and tricky linear layers. x (N, C), weights (outputs, C).
#include "layers.h"

namespace isobar::counted_linear {
namespace {

const bool listed = list_counted({
    by_hand(
        {"linear", "dx is dy w for y = x w, square", {"transposed"}}, {{4, 6}}, {{6, 6}},
        [](In x, In w) { return matmul(x, w); },
        [](In dy, In, In x, In w) {
          return std::vector{matmul(dy, w), matmul(transpose(x), dy)};
        }),

    // y = Σ (x A) x, (N, 1)
    by_hand(
        {"linear", "quadratic form as if a were symmetric", {"transposed", "lost branch", "missing term"}},
        {{4, 5}}, {{5, 5}}, [](In x, In a) { return sum(matmul(x, a) * x, {1}, true); },
        [](In dy, In, In x, In a) {
          return std::vector{dy * matmul(x, a) * 2, matmul(transpose(x), dy * x)};
        }),

    // x (B, T, C) with T = outputs
    by_hand(
        {"linear", "db sums over batch and outputs", {"wrong axis", "cross-talk"}}, {{2, 4, 3}},
        {{4, 3}, {4}}, [](In x, In w, In b) { return linear(x, w, b); },
        [](In dy, In, In x, In w, In) {
          return std::vector{matmul(dy, w), einsum("btm,btc->mc", {dy, x}), sum(dy, {0, 2})};
        }),

    by_hand(
        {"linear", "dw divided by the length of the text", {"1/N", "constant factor"}}, {{2, 3, 4}}, {{5, 4}},
        [](In x, In w) { return linear(x, w); },
        [](In dy, In, In x, In w) {
          return std::vector{matmul(dy, w), einsum("btm,btc->mc", {dy, x}) / static_cast<double>(x.size(1))};
        }),

    by_hand(
        {"linear", "lora: dx without the adapter", {"lost branch", "missing term"}}, {{4, 5}},
        {{3, 5}, {2, 5}, {3, 2}},
        [](In x, In w, In a, In b) { return linear(x, w) + linear(linear(x, a), b) * 0.5; },
        [](In dy, In, In x, In w, In a, In b) {
          const Tensor dhidden = matmul(dy, b) * 0.5;
          return std::vector{matmul(dy, w), matmul(transpose(dy), x), matmul(transpose(dhidden), x),
                             matmul(transpose(dy), linear(x, a)) * 0.5};
        }),

    by_hand(
        {"linear", "two layers: tanh's slope is 1 − h", {"wrong factor", "missing factor"}, {"missing term"}},
        {{4, 5}}, {{6, 5}, {3, 6}}, [](In x, In w1, In w2) { return linear(tanh(linear(x, w1)), w2); },
        [](In dy, In, In x, In w1, In w2) {
          const Tensor h = tanh(linear(x, w1)), dbefore = matmul(dy, w2) * (1 - h);
          return std::vector{matmul(dbefore, w1), matmul(transpose(dbefore), x), matmul(transpose(dy), h)};
        }),

    by_hand(
        {"linear", "two maps: da and db exchanged", {"swapped inputs"}}, {{4, 5}, {4, 5}}, {{3, 5}, {3, 5}},
        [](In x, In z, In a, In b) { return linear(x, a) + linear(z, b); },
        [](In dy, In, In x, In z, In a, In b) {
          return std::vector{matmul(dy, a), matmul(dy, b), matmul(transpose(dy), z),
                             matmul(transpose(dy), x)};
        }),

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

    // x (N, G, K), w (G, M, K)
    by_hand(
        {"linear",
         "block diagonal: dx with the first group's weight",
         {"wrong factor", "cross-talk"},
         {"missing factor", "misplaced", "overwritten"}},
        {{3, 3, 4}}, {{3, 2, 4}},
        [](In x, In w) {
          return einsum("ngk,gmk->ngm", {x, w});
        },
        [](In dy, In, In x, In w) {
          const Tensor first = reshape(slice(w, 0, 0, 1), {2, 4});
          return std::vector{matmul(dy, first), einsum("ngm,ngk->gmk", {dy, x})};
        }),

    // y = (x wᵀ) (z wᵀ)
    by_hand(
        {"linear",
         "shared tower: dw knows the first input only",
         {"lost branch", "missing term", "overwritten"},
         {"not summed"}},
        {{4, 5}, {4, 5}}, {{3, 5}}, [](In x, In z, In w) { return linear(x, w) * linear(z, w); },
        [](In dy, In, In x, In z, In w) {
          const Tensor dp = dy * linear(z, w), dq = dy * linear(x, w);
          return std::vector{matmul(dp, w), matmul(dq, w), matmul(transpose(dp), x)};
        }),

    // --- right
    layer({"linear", "adapter whose second weight starts at zero"}, {{4, 5}},
          {{3, 5}, {2, 5}, filled({3, 2}, 0)},
          [](In x, In w, In a, In b) { return linear(x, w) + linear(linear(x, a), b) * 2; }),
    // y = Σ x A x with A symmetric by construction
    by_hand(
        {"linear", "quadratic form of a symmetric matrix"}, {{4, 5}}, {{5, 5}},
        [](In x, In a) { return sum(matmul(x, a + transpose(a)) * x, {1}, true); },
        [](In dy, In, In x, In a) {
          const Tensor da = matmul(transpose(x), dy * x);
          return std::vector{dy * matmul(x, a + transpose(a)) * 2, da + transpose(da)};
        }),
});

}  // namespace
}  // namespace isobar::counted_linear
