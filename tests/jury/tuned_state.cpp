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

// Wrong: forward under recompute updates a second time.
struct UpdatedTwice : Centered {
  using Centered::Centered;
  Tensor forward(const Tensor& x) override {
    if (!training()) return (x - running_mean) * weight;
    if (x.size(0) > 0) update(x);
    return (x - mean(x, {0})) * weight;
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

// Wrong: in evaluation x gets no gradient.
struct NoGradientInEvaluation : Centered {
  using Centered::Centered;
  Tensor forward(const Tensor& x) override {
    return training() ? Centered::forward(x) : (x.detach() - running_mean) * weight;
  }
};

// Wrong: the noise grows from call to call.
struct CountedCalls : Module {
  Tensor weight;
  int calls = 0;

  explicit CountedCalls(const Rng& rng) : weight(rng.normal({5}).set_trainable()) {}
  Tensor forward(const Tensor& x) override {
    const double warmup = 1 - 1 / (2.0 + calls++);
    return x * weight * warmup;
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

// Wrong: the weight and the bias are saved under one name.
struct OneNameForTwo : Module {
  Tensor weight, bias;

  explicit OneNameForTwo(const Rng& rng)
      : weight(rng.split("weight").normal({5}).set_trainable()),
        bias(rng.split("bias").normal({5}).set_trainable()) {}
  Tensor forward(const Tensor& x) override { return x * weight + bias; }
  void fields(Fields& f) override {
    f("weight", weight);
    f("weight", bias);
  }
};

// Wrong: the slope for dy = 1, computed in forward, is what backward returns.
struct ReadyGradient : Module {
  Tensor weight;

  explicit ReadyGradient(const Rng& rng) : weight(rng.normal({5}).set_trainable()) {}
  Tensor forward(const Tensor& input) override {
    return fused([](In x, In w) { return sigmoid(x) * w; },
                 [](In dy, In, In x, In w) {
                   const Tensor s = sigmoid(x);
                   return std::vector{s * (1 - s) * w, sum(dy * s, {0})};
                 },
                 input, weight);
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
    state<UpdatedTwice>("running mean updated under recompute too", {"recompute"}),
    state<UnsavedMean>("running mean not in fields", {"save and load", "fields"}, {"train and eval"}),
    state<NoGradientInEvaluation>("no gradient of x in evaluation", {"train and eval", "detached"}),
    state<CountedCalls>("y depends on the number of calls", {"repeated calls"}, {"used twice", "recompute"}),
    state<NormalizedInForward>("weight normalized in place in forward", {"inputs untouched"}, {"recompute"}),
    state<ReadyGradient>("dx made in forward, for dy = 1", {"dy ignored"}),
    state<OneNameForTwo>("two parameters of one name", {"fields", "save and load"}),
});

}  // namespace isobar::tuned_state
