// What the table of gradient bugs is made of: layers from one function whose backward is written by hand.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../autograd/tape.h"
#include "../core/rng.h"
#include "gradient_bugs.h"

namespace isobar {

inline const Rng bug_rng(5);
using In = const std::vector<Tensor>&;
using Forward = std::function<Tensor(In)>;  // of x, then the parameters

// A layer from one function; parameters are called w0, w1, …
struct OneFunction : Module {
  std::string name;
  Forward f;
  std::vector<Tensor> parameters;

  Tensor forward(const Tensor& x) override {
    std::vector<Tensor> in = parameters;
    in.insert(in.begin(), x);
    return f(in);
  }
  void fields(Fields& fields) override {
    for (size_t i = 0; i < parameters.size(); ++i) fields(fmt::format("w{}", i), parameters[i]);
  }
  std::string type_name() const override { return name; }
};

// y from ops that are not recorded, and a backward of our own: what a fused op is.
template <class Value, class Backward>
Tensor fused(const Value& value, std::initializer_list<InputRef> inputs, Backward backward) {
  Tensor y;
  {
    const NoTape pause;
    y = value().detach();
  }
  return record("fused", y, inputs, std::move(backward));
}

// fused() of x alone: y = f(x), dx = backward(dy, x, y).
template <class Value, class Backward>
Forward of_x(Value value, Backward backward) {
  return [=](In in) {
    Tensor y;
    {
      const NoTape pause;
      y = value(in[0]).detach();
    }
    return record("fused", y, {in[0]},
                  [=, x = in[0]](const Tensor& dy) { return backward(dy, x.detach(), y); });
  };
}

inline GradientBug bug(const std::string& name, Cause cause, const Shape& x, const Forward& f,
                       const std::vector<Shape>& parameters = {}, double scale = 1) {
  const LayerMaker make = [=] {
    auto layer = std::make_unique<OneFunction>();
    layer->name = name;
    layer->f = f;
    for (const Shape& shape : parameters)
      layer->parameters.push_back(
          bug_rng.split(name).split(layer->parameters.size()).normal(shape).set_trainable());
    return layer;
  };
  return {name, cause, make, bug_rng.split(name).split("x").normal(x, 0, scale)};
}

}  // namespace isobar
