// Layers with wrong state, fields or modes.
#include "../../autograd/recompute.h"
#include "layers.h"

namespace isobar::tuned_state {

// y = (x − mean of the batch) · weight, and a running mean for evaluation. x (N, C).
struct Centered : Module {
  Tensor weight, running_mean;

  explicit Centered(const Rng& rng) : weight(rng.normal({5}).set_trainable()), running_mean(zeros({5})) {}
  Tensor forward(const Tensor& x) override {
    if (!training()) return (x - running_mean) * weight;
    if (x.size(0) > 0 && !recomputing()) update(x);
    return (x - mean(x, {0})) * weight;
  }
  void update(In x) {
    const NoTape pause;
    assign(running_mean, running_mean * 0.9 + mean(x, {0}) * 0.1);
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("running_mean", running_mean);
  }
};

// Wrong: the running mean is not saved.
struct UnsavedMean : Centered {
  using Centered::Centered;
  Tensor forward(const Tensor& x) override {
    running_mean = cast(running_mean, x.dtype());
    return Centered::forward(x);
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// Wrong: forward divides its weight by the weight's length, for good.
struct NormalizedInForward : Module {
  Tensor weight;

  explicit NormalizedInForward(const Rng& rng) : weight(rng.normal({4, 5}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    {
      const NoTape pause;
      assign(weight, weight / norm(weight, 2, {1}, true));
    }
    return linear(x, weight);
  }
  void fields(Fields& f) override { f("weight", weight); }
};

template <class Layer>
JuryLayer state(const std::string& name, const std::vector<std::string>& right,
                const std::vector<std::string>& half = {}) {
  return module({"state", name, right, half}, {{4, 5}},
                [](const Rng& rng) { return std::make_unique<Layer>(rng); });
}

const bool listed = list_tuned({
    state<UnsavedMean>("running mean not in fields", {"save and load", "fields"}, {"train and eval"}),
    state<NormalizedInForward>("weight normalized in place in forward", {"inputs untouched"}, {"recompute"}),
});

}  // namespace isobar::tuned_state
