// Wrong layers that take a mask: (B, S), true for real elements.
#include "layers.h"

namespace isobar::counted_masks {
namespace {

// The last element of each row is always real.
Draw some_real(int64_t batch, int64_t length) {
  return {std::function([=](const Rng& rng) {
    std::vector<bool> real(batch * length);
    for (int64_t i = 0; i < batch * length; ++i)
      real[i] = i % length == length - 1 || rng.uniform_at(i) > 0.5;
    return tensor({batch, length}, real);
  })};
}

Tensor over_channels(In mask) { return reshape(mask, {mask.size(0), mask.size(1), 1}); }

const bool listed = list_counted({
    by_hand(
        {"pooling",
         "masked attention pooling: softmax's sum over padded elements too",
         {"cross-talk", "attention", "missing term"},
         {"missing factor"}},
        {{3, 4, 2}, some_real(3, 4)}, {{2}},
        [](In x, In mask, In w) {
          const Tensor p = softmax(where(mask, sum(x * w, {2}), -1e30));
          return sum(over_channels(p) * x, {1});
        },
        [](In dy, In, In x, In mask, In w) {
          const Tensor scores = sum(x * w, {2}), p = softmax(where(mask, scores, -1e30));
          const Tensor dp = sum(reshape(dy, {dy.size(0), 1, 2}) * x, {2}), all = softmax(scores);
          const Tensor ds = over_channels(p * dp - all * sum(p * dp, {1}, true));
          return std::vector{over_channels(p) * reshape(dy, {dy.size(0), 1, 2}) + ds * w, Tensor(),
                             sum(ds * x, {0, 1})};
        }),
    by_hand(
        {"gates",
         "state held where the mask is false: dy passes to x there too",
         {"missing factor", "cross-talk", "one-sided"},
         {"wrong factor", "lost branch"}},
        {{3, 4}, {3, 4}, some_real(3, 4)}, {{4}},
        [](In x, In state, In mask, In w) { return where(mask, tanh(x * w), state); },
        [](In dy, In, In x, In, In mask, In w) {
          const Tensor slope = 1 - square(tanh(x * w));
          return std::vector{dy * slope * w, where(mask, 0.0, dy), Tensor(),
                             sum(where(mask, dy * slope * x, 0.0), {0})};
        }),
    by_hand(
        {"tricky", "masked mean, with the real elements counted"}, {{3, 4, 2}, some_real(3, 4)}, {},
        [](In x, In mask) {
          const Tensor real = where(over_channels(mask), ones({1}, x.dtype()), 0.0);
          return sum(x * real, {1}) / sum(real, {1});
        },
        [](In dy, In, In x, In mask) {
          const Tensor real = where(over_channels(mask), ones({1}, x.dtype()), 0.0);
          return std::vector{real * reshape(dy / sum(real, {1}), {dy.size(0), 1, 2}), Tensor()};
        }),
});

}  // namespace
}  // namespace isobar::counted_masks
