// Right layers that are no (batch, …) → (batch, …), wrong ones whose memory grows with the square of the
// batch, and kernels in f32.
#include "../../nn/linear.h"
#include "../../nn/model.h"
#include "layers.h"

namespace isobar::tuned_shapes {

const CheckLayerOptions no_batch{.batch = false};

// y = base(x) + x aᵀ bᵀ; the base is frozen.
struct Lora : Module {
  Linear base;
  Tensor a, b;

  explicit Lora(const Rng& rng)
      : base(5, 3, rng.split("base")),
        a(rng.split("a").normal({2, 5}).set_trainable()),
        b(rng.split("b").normal({3, 2}).set_trainable()) {
    for (Tensor& frozen : parameters(base)) frozen.set_trainable(false);
  }
  Tensor forward(const Tensor& x) override { return base(x) + linear(linear(x, a), b); }
  void fields(Fields& f) override {
    f("base", base);
    f("a", a);
    f("b", b);
  }
};

// In training the same elements are dropped in every step.
struct FixedMask : Module {
  Tensor weight;

  explicit FixedMask(const Rng& rng) : weight(rng.normal({5}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    return training() ? dropout(x * weight, 0.4, Rng(42)) : x * weight;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

const bool listed = list_tuned({
    module({"shapes", "LoRA over a frozen Linear"}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<Lora>(rng); }),
    layer(
        {"shapes", "Gram matrix (N, N)"}, {{4, 5}}, {{5}},
        [](In x, In w) { return matmul(x * w, transpose(x)); }, no_batch),
    layer({"shapes", "row means (N) less column means (N, 1)", {"batch of 0"}}, {{4, 5}}, {{5}},
          [](In x, In w) { return mean(x * w, {1}) - mean(x, {1}, true); }),
    module({"shapes", "dropout with a mask of its own, the same in every step", {"train and eval"}}, {{4, 5}},
           [](const Rng& rng) { return std::make_unique<FixedMask>(rng); }),
    by_hand(
        {"shapes", "overlapping windows: the larger of two gradients counts", {"not linear in dy"}}, {{4, 5}},
        {}, [](In x) { return maximum(slice(x, 1, 0, 4), slice(x, 1, 1, 5)); },
        [](In dy, In, In x) {
          const Tensor left = slice(x, 1, 0, 4), right = slice(x, 1, 1, 5), none = slice(x, 1, 0, 1) * 0;
          return maximum(concat({where(left >= right, dy, 0), none}, 1),
                         concat({none, where(left >= right, 0, dy)}, 1));
        }),
});

}  // namespace isobar::tuned_shapes
