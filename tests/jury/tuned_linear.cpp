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
        {"linear", "bilinear: dx and dz exchanged", {"swapped inputs"}}, {{4, 5}, {4, 5}}, {{3, 5}, {3, 5}},
        [](In x, In z, In a, In b) { return linear(x, a) * linear(z, b); },
        [](In dy, In, In x, In z, In a, In b) {
          const Tensor p = linear(x, a), q = linear(z, b);
          return std::vector{matmul(dy * p, b), matmul(dy * q, a), matmul(transpose(dy * q), x),
                             matmul(transpose(dy * p), z)};
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
});

}  // namespace
}  // namespace isobar::tuned_linear
