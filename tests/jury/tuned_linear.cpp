// Wrong and tricky linear layers, gates and scans. x (N, C), weights (outputs, C).
#include <cmath>

#include "layers.h"

namespace isobar::tuned_linear {

Tensor half_of(In x, int which) {
  const int64_t half = x.size(-1) / 2;
  return slice(x, -1, which * half, (which + 1) * half);
}

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
        {"gates",
         "GLU: the halves of dx change places",
         {"misplaced", "swapped inputs"},
         {"wrong factor", "lost branch"}},
        {{3, 6}}, {}, [](In x) { return half_of(x, 0) * sigmoid(half_of(x, 1)); },
        [](In dy, In, In x) {
          const Tensor a = half_of(x, 0), gate = sigmoid(half_of(x, 1));
          return concat({dy * a * gate * (1 - gate), dy * gate}, -1);
        }),

    by_hand(
        {"time",
         "cumulative sum: dx runs forward in time too",
         {"transposed"},
         {"misplaced", "cross-talk", "wrong axis"}},
        {{3, 5}}, {{5}}, [](In x, In w) { return cumsum(x * w, 1); },
        [](In dy, In, In x, In w) {
          return std::vector{cumsum(dy, 1) * w, sum(flip(cumsum(flip(dy, {1}), 1), {1}) * x, {0})};
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

}  // namespace isobar::tuned_linear
