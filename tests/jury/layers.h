// Short ways to write a row of the jury: a layer is a function of its inputs and its parameters.
//
//   by_hand({"norms", "weight left out of dx", {"missing factor"}}, {{4, 5}}, {{5}},
//           [](In x, In w) { return tanh(x) * w; },
//           [](In dy, In, In x, In) { return std::vector{dy * (1 - square(tanh(x))), dy * tanh(x)}; })
//   layer({"norms", "the library's"}, {{4, 5}}, {{5}}, [](In x, In w) { return rms_norm(x, 5, w, 1e-5); })
//
// The functions take first the inputs, then the parameters, which fields() calls w0, w1, ….
#pragma once

#include "../../autograd/tape.h"
#include "jury.h"

namespace isobar {

using In = const Tensor&;

// An example input or a parameter: a shape to be filled with standard normal numbers, or a function.
struct Draw {
  std::function<Tensor(const Rng&)> tensor;

  Draw(std::initializer_list<int64_t> shape)
      : tensor([shape = Shape(shape)](const Rng& rng) { return rng.normal(shape); }) {}
  Draw(std::function<Tensor(const Rng&)> f) : tensor(std::move(f)) {}
};

inline Draw normal(const Shape& shape, double mean, double std) {
  return {[=](const Rng& rng) { return rng.normal(shape, mean, std); }};
}
inline Draw uniform(const Shape& shape, double low, double high) {
  return {[=](const Rng& rng) { return rng.uniform(shape, low, high); }};
}
inline Draw filled(const Shape& shape, double value) {
  return {[=](const Rng&) { return full(shape, value); }};
}
inline Draw integers(const Shape& shape, int64_t bound) {
  return {[=](const Rng& rng) { return rng.integers(shape, bound); }};
}
// A number for the whole tensor, as parameters and constants are.
inline Tensor number(double value, In like) { return full({}, value, like.dtype()); }

inline std::vector<Tensor> drawn(const std::vector<Draw>& draws, const Rng& rng) {
  std::vector<Tensor> tensors;
  for (const Draw& draw : draws) tensors.push_back(draw.tensor(rng.split(tensors.size())));
  return tensors;
}

// A layer from one function.
struct FunctionLayer : Module {
  using Function = std::function<Tensor(const std::vector<Tensor>&)>;
  std::string name;
  Function function;
  std::vector<Tensor> parameters;

  Tensor forward(const Tensor& x) override { return of({x}); }
  Tensor operator()(const std::vector<Tensor>& inputs) {
    return call([&] { return of(inputs); });
  }
  void fields(Fields& fields) override {
    for (size_t i = 0; i < parameters.size(); ++i) fields(fmt::format("w{}", i), parameters[i]);
  }
  std::string type_name() const override { return name; }

 private:
  Tensor of(std::vector<Tensor> inputs) const {
    inputs.insert(inputs.end(), parameters.begin(), parameters.end());
    return function(inputs);
  }
};

// f(a, b, c) as a function of a vector of three.
template <class F, class... Args>
FunctionLayer::Function of_vector(const F& f, Tensor (F::*)(Args...) const) {
  return [f](const std::vector<Tensor>& in) {
    check(in.size() == sizeof...(Args), "jury: wanted {} inputs and parameters, got {}", sizeof...(Args),
          in.size());
    return [&]<size_t... i>(std::index_sequence<i...>) { return f(in[i]...); }
    (std::index_sequence_for<Args...>());
  };
}

struct Verdict {
  std::string family, name;
  std::vector<std::string> right = {}, half = {};
};

// A layer that is made anew, with these modules and examples; `call` is for several inputs.
template <class Make>
JuryLayer module(const Verdict& verdict, const std::vector<Draw>& x, Make make,
                 const CheckLayerOptions& options = {}) {
  return {verdict.family,
          verdict.name,
          verdict.right,
          verdict.half,
          [=](const Rng& rng) -> LayerMaker { return [=] { return make(rng.split("parameters")); }; },
          [=](const Rng& rng) { return LayerInputs(drawn(x, rng.split("x"))); },
          options};
}

// y = f(inputs, parameters).
template <class F>
JuryLayer layer(const Verdict& verdict, const std::vector<Draw>& x, const std::vector<Draw>& parameters,
                const F& f, CheckLayerOptions options = {}) {
  const FunctionLayer::Function function = of_vector(f, &F::operator());
  if (x.size() > 1 && !options.call)
    options.call = [](Module& layer, const std::vector<Tensor>& in) {
      return dynamic_cast<FunctionLayer&>(layer)(in);
    };
  const auto make = [=](const Rng& rng) {
    auto made = std::make_unique<FunctionLayer>();
    made->name = verdict.name;
    made->function = function;
    made->parameters = drawn(parameters, rng);
    for (Tensor& w : made->parameters) w.set_trainable();
    return made;
  };
  return module(verdict, x, make, options);
}

// y = value(inputs…) as one node with a backward of our own: backward(dy, y, inputs…) returns one gradient
// for each input, or a Tensor for one.
template <class Value, class Backward, class... Inputs>
Tensor fused(const Value& value, const Backward& backward, const Inputs&... inputs) {
  if (composed_wanted()) return value(inputs...);
  Tensor y;
  {
    const NoTape pause;
    y = value(inputs...).detach();
  }
  return record("fused", y, {inputs...},
                [=, ... in = inputs.detach()](In dy) { return backward(dy, y.detach(), in...); });
}

// A layer that is one such node.
template <class Value, class Backward, class... Args>
JuryLayer by_hand(const Verdict& verdict, const std::vector<Draw>& x, const std::vector<Draw>& parameters,
                  const Value& value, const Backward& backward, Tensor (Value::*)(Args...) const) {
  return layer(verdict, x, parameters, [=](Args... in) -> Tensor { return fused(value, backward, in...); });
}
template <class Value, class Backward>
JuryLayer by_hand(const Verdict& verdict, const std::vector<Draw>& x, const std::vector<Draw>& parameters,
                  const Value& value, const Backward& backward) {
  return by_hand(verdict, x, parameters, value, backward, &Value::operator());
}

}  // namespace isobar
