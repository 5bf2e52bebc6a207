// Wrong layers that take a mask: (B, S), true for real elements.
#include "layers.h"

namespace isobar::tuned_masks {
namespace {

// The first element of each row is always real.
Draw some_real(int64_t batch, int64_t length) {
  return {std::function([=](const Rng& rng) {
    std::vector<bool> real(batch * length);
    for (int64_t i = 0; i < batch * length; ++i) real[i] = i % length == 0 || rng.uniform_at(i) > 0.4;
    return tensor({batch, length}, real);
  })};
}

Tensor over_channels(In mask) { return reshape(mask, {mask.size(0), mask.size(1), 1}); }
Tensor over_queries(In mask) { return reshape(mask, {mask.size(0), 1, mask.size(1)}); }

// The mean over real elements, (B, C).
Tensor real_mean(In x, In mask) {
  const Tensor real = where(over_channels(mask), ones({1}, x.dtype()), 0.0);
  return sum(x * real, {1}) / sum(real, {1});
}

const bool listed = list_tuned({
    by_hand(
        {"pooling",
         "masked mean: padded elements get a gradient too",
         {"cross-talk", "missing factor"},
         {"wrong factor", "one-sided"}},
        {{3, 4, 2}, some_real(3, 4)}, {}, [](In x, In mask) { return real_mean(x, mask); },
        [](In dy, In, In x, In mask) {
          const Tensor real = where(over_channels(mask), ones({1}, x.dtype()), 0.0);
          const Tensor each = reshape(dy / sum(real, {1}), {dy.size(0), 1, 2});
          return std::vector{broadcast_to(each, x.shape()), Tensor()};
        }),
    by_hand(
        {"tricky", "cross-attention with a padding mask"}, {{3, 2, 4}, {3, 5, 4}, some_real(3, 5)}, {},
        [](In x, In memory, In mask) {
          const Tensor logits = matmul(x, transpose(memory));
          return matmul(softmax(where(over_queries(mask), logits, -1e30)), memory);
        },
        [](In dy, In, In x, In memory, In mask) {
          const Tensor logits = matmul(x, transpose(memory));
          const Tensor p = softmax(where(over_queries(mask), logits, -1e30));
          const Tensor dp = matmul(dy, transpose(memory)), ds = p * (dp - sum(p * dp, {-1}, true));
          return std::vector{matmul(ds, memory), matmul(transpose(ds), x) + matmul(transpose(p), dy),
                             Tensor()};
        }),
});

}  // namespace
}  // namespace isobar::tuned_masks
