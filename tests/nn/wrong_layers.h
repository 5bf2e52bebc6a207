// Short ways to write a wrong layer, or a right one that is hard to check, and what check_layer says of it. A
// layer is a function of its inputs and its weights, which fields() calls w0, w1, ….
//
//   {"square without its 2", by_hand([](In x) { return square(x); }, [](In dy, In, In x) { return dy * x; }),
//    {"off by a factor of 0.5 everywhere"}}
#pragma once

#include <doctest/doctest.h>

#include "../../autograd/tape.h"
#include "../../nn/check/check_layer.h"
#include "../holds.h"

namespace isobar::wrong_layers {

using In = const Tensor&;

struct FunctionLayer : Module {
  using Function = std::function<Tensor(bool training, const std::vector<Tensor>& inputs_and_weights)>;
  Function function;
  std::vector<Tensor> weights;

  Tensor forward(const Tensor& x) override { return of({x}); }
  Tensor operator()(const std::vector<Tensor>& inputs) {
    return call([&] { return of(inputs); });
  }
  void fields(Fields& f) override {
    for (size_t i = 0; i < weights.size(); ++i) f(fmt::format("w{}", i), weights[i]);
  }

 private:
  Tensor of(std::vector<Tensor> in) const {
    in.insert(in.end(), weights.begin(), weights.end());
    return function(training(), in);
  }
};

// Standard normal numbers, always the same of a seed.
inline Tensor numbers(const Shape& shape, uint64_t seed = 1) { return Rng(seed).normal(shape); }

// A layer of f(in training, inputs…, weights…), by its number of arguments.
struct LayerFunction {
  FunctionLayer::Function call;
  size_t arguments;
};
template <class F, class... Args>
LayerFunction function_of(const F& f, Tensor (F::*)(bool, Args...) const) {
  return {[f](bool training, const std::vector<Tensor>& in) {
            return [&]<size_t... i>(std::index_sequence<i...>) { return f(training, in.at(i)...); }
            (std::index_sequence_for<Args...>());
          },
          sizeof...(Args)};
}
template <class F, class First, class... Args>
LayerFunction function_of(const F& f, Tensor (F::*)(First, Args...) const) {
  const auto both = [f](bool, First x, Args... in) -> Tensor { return f(x, in...); };
  return function_of(both, &decltype(both)::operator());
}

struct LayerRow {
  std::string name;
  LayerMaker make;
  // The first one is in the report's first line, the others anywhere in it.
  std::vector<std::string> says;
  LayerInputs x = numbers({4, 5});
  CheckLayerOptions options = {};
};

inline LayerMaker maker_of(const FunctionLayer::Function& function, const std::vector<Tensor>& weights) {
  return [=] {
    auto layer = std::make_unique<FunctionLayer>();
    layer->function = function;
    for (const Tensor& w : weights) layer->weights.push_back(raw::clone(w).set_trainable());
    return layer;
  };
}
// f(inputs…, weights…), or of whether the layer is in training and these.
template <class F>
LayerMaker of(const F& f, const std::vector<Tensor>& weights) {
  return maker_of(function_of(f, &F::operator()).call, weights);
}
// Of one input; the weights are ones.
template <class F>
LayerMaker of(const F& f) {
  const LayerFunction function = function_of(f, &F::operator());
  return maker_of(function.call, std::vector<Tensor>(function.arguments - 1, ones(5)));
}
template <class M>
LayerMaker a() {
  return [] { return std::make_unique<M>(); };
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

template <class... Tensors>
std::vector<Tensor> gradients(const Tensors&... of_each) {
  return {of_each...};
}

// A layer that is one such node.
template <class Value, class Backward, class... Args>
LayerMaker node_of(const Value& value, const Backward& backward, const std::vector<Tensor>& weights,
                   Tensor (Value::*)(Args...) const) {
  return of([=](Args... in) -> Tensor { return fused(value, backward, in...); }, weights);
}
template <class Value, class Backward>
LayerMaker by_hand(const Value& value, const Backward& backward, const std::vector<Tensor>& weights = {}) {
  return node_of(value, backward, weights, &Value::operator());
}

inline LayerReport report_of(const LayerRow& row) {
  CheckLayerOptions options = row.options;
  if (row.x.size() > 1 && options.call == nullptr)
    options.call = [](Module& layer, const std::vector<Tensor>& in) {
      return dynamic_cast<FunctionLayer&>(layer)(in);
    };
  return check_layer(row.make, row.x, options);
}

inline void check_rows(const std::vector<LayerRow>& rows) {
  for (const LayerRow& row : rows) {
    INFO(row.name);
    const std::string text = report_of(row).text();
    INFO(text);
    CHECK(holds(text.substr(0, text.find('\n')), row.says[0]));
    for (const std::string& part : row.says) CHECK(holds(text, part));
  }
}

}  // namespace isobar::wrong_layers
