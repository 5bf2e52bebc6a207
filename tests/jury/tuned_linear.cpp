// Wrong and tricky linear layers. x (N, C), weights (outputs, C).
#include <cmath>

#include "layers.h"

namespace isobar::tuned_linear {
namespace {

const bool listed = list_tuned({
    by_hand(
        {"linear", "dw is xᵀ dy, square", {"transposed"}}, {{4, 5}}, {{5, 5}},
        [](In x, In w) { return matmul(x, transpose(w)); },
        [](In dy, In, In x, In w) {
          return std::vector{matmul(dy, w), matmul(transpose(x), dy)};
        }),

    by_hand(
        {"linear", "db sums over the outputs", {"wrong axis", "cross-talk"}}, {{5, 4}}, {{5, 4}, {5}},
        [](In x, In w, In b) { return matmul(x, transpose(w)) + b; },
        [](In dy, In, In x, In w, In) {
          return std::vector{matmul(dy, w), matmul(transpose(dy), x), sum(dy, {1})};
        }),

    by_hand(
        {"linear", "db is a mean over the batch", {"1/N", "constant factor"}}, {{6, 3}}, {{4, 3}, {4}},
        [](In x, In w, In b) { return linear(x, w, b); },
        [](In dy, In, In x, In w, In) {
          return std::vector{matmul(dy, w), matmul(transpose(dy), x), mean(dy, {0})};
        }),

    // y = x Wᵀ + ½ (x Aᵀ) Bᵀ
    by_hand(
        {"linear", "lora: da without the scale", {"constant factor", "missing factor"}}, {{4, 5}},
        {{3, 5}, {2, 5}, {3, 2}},
        [](In x, In w, In a, In b) { return linear(x, w) + linear(linear(x, a), b) * 0.5; },
        [](In dy, In, In x, In w, In a, In b) {
          const Tensor hidden = linear(x, a), dhidden = matmul(dy, b);
          return std::vector{matmul(dy, w) + matmul(dhidden, a) * 0.5, matmul(transpose(dy), x),
                             matmul(transpose(dhidden), x), matmul(transpose(dy), hidden) * 0.5};
        }),

    by_hand(
        {"linear",
         "two layers: dw1 without relu's mask",
         {"missing factor", "one-sided", "wrong factor"},
         {"missing term", "cross-talk"}},
        {{4, 5}}, {{6, 5}, {3, 6}}, [](In x, In w1, In w2) { return linear(relu(linear(x, w1)), w2); },
        [](In dy, In, In x, In w1, In w2) {
          const Tensor before = linear(x, w1), mask = cast(before > 0, x.dtype());
          const Tensor dhidden = matmul(dy, w2);
          return std::vector{matmul(dhidden * mask, w1), matmul(transpose(dhidden), x),
                             matmul(transpose(dy), relu(before))};
        }),

    by_hand(
        {"linear", "bilinear: dx and dz exchanged", {"swapped inputs"}}, {{4, 5}, {4, 5}}, {{3, 5}, {3, 5}},
        [](In x, In z, In a, In b) { return linear(x, a) * linear(z, b); },
        [](In dy, In, In x, In z, In a, In b) {
          const Tensor p = linear(x, a), q = linear(z, b);
          return std::vector{matmul(dy * p, b), matmul(dy * q, a), matmul(transpose(dy * q), x),
                             matmul(transpose(dy * p), z)};
        }),

    by_hand(
        {"linear", "joined inputs: dz cut out one column early", {"misplaced"}, {"cross-talk"}},
        {{4, 3}, {4, 5}}, {{6, 8}},
        [](In x, In z, In w) {
          return linear(concat({x, z}, 1), w);
        },
        [](In dy, In, In x, In z, In w) {
          const Tensor both = matmul(dy, w);
          return std::vector{slice(both, 1, 0, 3), slice(both, 1, 2, 7),
                             matmul(transpose(dy), concat({x, z}, 1))};
        }),

    // x (N, G, K), w (G, M, K)
    by_hand(
        {"linear",
         "block diagonal: dw of the last group only",
         {"overwritten", "cross-talk"},
         {"missing term", "not summed"}},
        {{4, 3, 2}}, {{3, 5, 2}},
        [](In x, In w) {
          return einsum("ngk,gmk->ngm", {x, w});
        },
        [](In dy, In, In x, In w) {
          Tensor dw;
          for (int64_t g = 0; g < 3; ++g) {
            const Tensor one = einsum("nm,nk->mk", {reshape(slice(dy, 1, g, g + 1), {dy.size(0), 5}),
                                                    reshape(slice(x, 1, g, g + 1), {dy.size(0), 2})});
            dw =
                index_add(zeros({3, 5, 2}, x.dtype()), 0, tensor<int64_t>({1}, {g}), reshape(one, {1, 5, 2}));
          }
          return std::vector{einsum("ngm,gmk->ngk", {dy, w}), dw};
        }),

    // An autoencoder with one weight.
    by_hand(
        {"linear",
         "tied weight: only the decoder's gradient",
         {"lost branch", "missing term", "overwritten"},
         {"not summed"}},
        {{4, 5}}, {{3, 5}}, [](In x, In w) { return matmul(matmul(x, transpose(w)), w); },
        [](In dy, In, In x, In w) {
          const Tensor code = matmul(x, transpose(w)), dcode = matmul(dy, transpose(w));
          return std::vector{matmul(dcode, w), matmul(transpose(code), dy)};
        }),

    // --- right
    by_hand(
        {"linear", "tied autoencoder with orthogonal rows"}, {{4, 3}}, {{[](const Rng& rng) {
          const double angle = rng.uniform_at(0) * 6;
          const float c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
          return tensor<float>({2, 3}, {c, s, 0, -s, c, 0});
        }}},
        [](In x, In w) { return matmul(matmul(x, transpose(w)), w); },
        [](In dy, In, In x, In w) {
          const Tensor code = matmul(x, transpose(w)), dcode = matmul(dy, transpose(w));
          return std::vector{matmul(dcode, w), matmul(transpose(code), dy) + matmul(transpose(dcode), x)};
        }),
    by_hand(
        {"linear", "symmetric matrix from a square weight"}, {{5, 4}}, {{4, 4}},
        [](In x, In w) { return matmul(x, (w + transpose(w)) * 0.5); },
        [](In dy, In, In x, In w) {
          const Tensor ds = matmul(transpose(x), dy);
          return std::vector{matmul(dy, (w + transpose(w)) * 0.5), (ds + transpose(ds)) * 0.5};
        }),
});

}  // namespace
}  // namespace isobar::tuned_linear
