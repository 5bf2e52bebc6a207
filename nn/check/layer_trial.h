// LayerTrial: runs a layer on an example input in the ways that check_layer compares.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"
#include "layer_step.h"

namespace isobar {

struct StepOptions {
  Tensor dy = {};             // default: standard normal numbers, the same in every step
  bool recompute = false;     // the forward under recompute()
  bool higher_order = false;  // on a tape for second derivatives
};

struct LayerSignal {
  double std_ratio, gradient_ratio;
};

class LayerTrial {
 public:
  using Inputs = std::vector<Tensor>;

  LayerTrial(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options)
      : make_(make), x_(x), options_(options) {}

  const CheckLayerOptions& options() const { return options_; }
  // Throws Error where the maker returns null.
  std::unique_ptr<Module> made() const;
  // The layer with noise of std 0.2 added to its parameters, drawn by name.
  std::unique_ptr<Module> moved(Dtype dtype = Dtype::f64, bool training = true) const;
  // The example; the same values as strided tensors; with `count` rows; other values, of `count` rows, in the
  // range of the example's; with rows repeated to about `elements` elements, in f32.
  Inputs input(Dtype dtype = Dtype::f64) const;
  Inputs spread_input() const;
  Inputs rows(int64_t count) const;
  Inputs other_rows(int64_t count) const;
  Inputs enlarged(int64_t elements) const;
  int64_t batch() const { return x_[0].size(0); }
  // "x", or "x[0]", "x[1]", …
  std::string name_of_input(size_t i) const;

  Tensor call(Module& module, const Inputs& x) const;
  // y of a forward on a tape of its own.
  Tensor output(Module& module, const Inputs& x) const;
  LayerStep step(Module& module, const Inputs& x, const StepOptions& options = {}) const;

  // With respect to the inputs and every parameter.
  std::vector<Jacobian> jacobians(const Inputs& x, bool training, double tolerance) const;
  // Compares gradients with differences along one direction, and in full where these disagree. Returns what
  // is wrong, or "".
  std::string wrong_gradient(const Inputs& x, double tolerance) const;
  // What is wrong with the second derivatives, or "".
  std::string wrong_second_derivative(double tolerance) const;
  // Compares each of `count` rows with the same row of the example. Returns what differs, or "".
  std::string compare_rows(int64_t count) const;
  // Calls the layer twice on one tape: the gradients of the two calls must add up. Returns what is wrong, or
  // "".
  std::string compare_two_uses() const;
  // Whether this is a parameter that no forward uses: in training or evaluation, on the example or on normal
  // numbers.
  bool unused(const std::string& name) const;
  // Says which trainable tensor forward uses and fields() does not list, or "".
  std::string stray_leaf(Module& module) const;
  LayerSignal signal() const;

  // Sets random() and same_in_evaluation().
  void compare_modes();
  bool random() const { return random_; }  // training draws from the tape's rng
  bool same_in_evaluation() const { return same_in_evaluation_; }

 private:
  struct Function {
    TensorFunction f;
    std::vector<NamedInput> inputs;
    std::vector<Tensor> values() const;
  };
  Function function(const Inputs& x, bool training, const LayerCall& call) const;
  bool is_batch(const Tensor& x) const { return x.ndim() > 0 && x.size(0) == batch(); }
  Inputs normal_input() const;

  const LayerMaker make_;
  const Inputs x_;
  const CheckLayerOptions options_;
  bool random_ = false, same_in_evaluation_ = true;
};

// Tensors of dy's values: the first repeated with stride 0, as the gradient of a sum is; laid out as a
// transposed tensor.
Tensor broadcast(const Tensor& dy);
Tensor transposed(const Tensor& dy);

}  // namespace isobar
