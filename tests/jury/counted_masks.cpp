// Wrong layers that take a mask: (B, S), true for real elements.
#include "layers.h"

namespace isobar::counted_masks {

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

}  // namespace isobar::counted_masks
