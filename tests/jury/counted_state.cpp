// Layers with wrong state, fields or modes.
#include "../../autograd/recompute.h"
#include "layers.h"

namespace isobar::counted_state {

// y = x / running root mean square · weight; x (N, C).
struct RunningScale : Module {
  Tensor weight, running = ones({4});

  explicit RunningScale(const Rng& rng) : weight(rng.normal({4}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    const Tensor power = training() ? mean(square(x), {0}) : running;
    if (training() && x.size(0) > 0 && !recomputing()) update(power);
    return x / sqrt(power + 1e-3) * weight;
  }
  void update(In power) {
    const NoTape pause;
    assign(running, running * 0.9 + power.detach() * 0.1);
  }
  void fields(Fields& f) override {
    f("weight", weight);
    f.buffer("running", running);
  }
};

// Wrong: backward reads x from the layer, where the next call has put its own.
struct KeptActivation : Module {
  Tensor weight, kept;

  explicit KeptActivation(const Rng& rng) : weight(rng.normal({4}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    if (composed_wanted()) return tanh(x) * weight;
    kept = x.detach();
    Tensor y;
    {
      const NoTape pause;
      y = tanh(x) * weight;
    }
    return record("kept", y, {x, weight}, [this, w = weight.detach()](In dy) {
      const Tensor t = tanh(kept);
      return std::vector{dy * w * (1 - square(t)), sum(dy * t, {0})};
    });
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// Wrong: noise from a counter of its own.
struct OwnNoise : Module {
  Tensor weight;
  uint64_t calls = 0;

  explicit OwnNoise(const Rng& rng) : weight(rng.normal({4}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    if (!training()) return x * weight;
    return x * weight * Rng(7).split(calls++).uniform(x.shape(), 0.9, 1.1, x.dtype());
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// Wrong: the composed form forgets the weight's square.
struct ComposedWithoutSquare : Module {
  Tensor weight;

  explicit ComposedWithoutSquare(const Rng& rng) : weight(rng.normal({4}).set_trainable()) {}
  Tensor forward(const Tensor& input) override {
    if (composed_wanted()) return sigmoid(input) * weight;
    return fused([](In x, In w) { return sigmoid(x) * square(w); },
                 [](In dy, In y, In x, In w) {
                   return std::vector{dy * y * (1 - sigmoid(x)), sum(dy * sigmoid(x) * 2 * w, {0})};
                 },
                 input, weight);
  }
  void fields(Fields& f) override { f("weight", weight); }
};

// Wrong: in evaluation the running statistic is replaced by that of the batch, and kept.
struct MovesInEvaluation : RunningScale {
  using RunningScale::RunningScale;
  Tensor forward(const Tensor& x) override {
    if (x.size(0) > 0 && !recomputing()) update(mean(square(x.detach()), {0}));
    return x / sqrt((training() ? mean(square(x), {0}) : running) + 1e-3) * weight;
  }
};

// Wrong: the scale is used, and trained, but saved nowhere.
struct UnlistedPart : Module {
  RunningScale inner;
  Tensor gain;

  explicit UnlistedPart(const Rng& rng) : inner(rng.split("inner")), gain(rng.split("gain").normal({4})) {
    gain.set_trainable();
  }
  Tensor forward(const Tensor& x) override { return inner(x) * gain; }
  void fields(Fields& f) override { f("gain", gain); }
};

// Wrong: the last 4 rows' sum of x is kept as a cache and added to the next batch.
struct CarriedOver : Module {
  Tensor weight, carried;

  explicit CarriedOver(const Rng& rng) : weight(rng.normal({4}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    const bool use = carried.defined() && carried.dtype() == x.dtype();
    const Tensor y = use ? x * weight + carried * 0.01 : x * weight;
    carried = sum(x.detach(), {0});
    return y;
  }
  void fields(Fields& f) override { f("weight", weight); }
};

template <class Layer>
JuryLayer state(const std::string& name, const std::vector<std::string>& right,
                const std::vector<std::string>& half = {}) {
  return module({"state", name, right, half}, {{3, 4}},
                [](const Rng& rng) { return std::make_unique<Layer>(rng); });
}

const bool listed = list_counted({
    state<KeptActivation>("backward reads x of the last call", {"used twice"}, {"another call"}),
    state<OwnNoise>("noise from a counter of its own", {"repeated calls"}, {"recompute", "used twice"}),
    state<ComposedWithoutSquare>("composed form without the square", {"composed form"}),
    state<MovesInEvaluation>("running scale moves in evaluation", {"train and eval"}),
    state<UnlistedPart>("a part not in fields", {"fields"}),
    state<CarriedOver>("sum of the last batch added to the next", {"repeated calls", "another call"},
                       {"used twice", "recompute"}),
});

}  // namespace isobar::counted_state
