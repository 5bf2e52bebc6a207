// The layers of decay_study by the definition (tests/spec/spec.h), of which net.cpp makes nets that go through once, and
// training.cpp one that is trained.
#pragma once

#include <functional>
#include <limits>

#include "../../../tests/spec/layers.h"
#include "../../nets/decay/config.h"

namespace isobar::live {

using spec::Int;
using Array = spec::Array<float>;
using Tensor = spec::Tensor<float>;

// The definition's linear(), with products that are faster.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias);

// The parameters of a net that is trained, in the order of their use: the first pass makes them, later ones find them.
//
//   Parameters parameters;
//   for (…) {
//     const Parameters::Use here(parameters);
//     backward(loss(net(x)));
//   }
class Parameters {
 public:
  // Whoever asks for a parameter while this is there gets the next one.
  struct Use {
    explicit Use(Parameters& parameters);
    ~Use();
  };
  const std::vector<Tensor>& all() const { return all_; }
  Tensor next(const std::function<Array()>& make) {
    if (next_ == all_.size()) all_.push_back(spec::trainable(make()));
    return all_[next_++];
  }

 private:
  std::vector<Tensor> all_;
  size_t next_ = 0;
};
// A parameter of the net in use, made where it is new; without one in use a new one.
Tensor parameter_made(const std::function<Array()>& make);
Tensor parameter(const spec::Shape& shape, double value);

struct Layer {
  const decay::Config& config;
  spec::Rng rng;
  double scale = 1;    // times the weights as they are drawn
  Tensor weight = {};  // the first
  double norm_std = std::numeric_limits<double>::quiet_NaN();

  Tensor operator()(const Tensor& x);

 private:
  Tensor linear_named(const Tensor& x, const char* name);
  Tensor normed(const Tensor& x);
  Tensor branch(const Tensor& x);
  Tensor fixup(const Tensor& x);
};
// The config's norm; x without one.
Tensor normed_by(const decay::Config& config, const Tensor& x);

}  // namespace isobar::live
