// LayerTrial: runs a layer on an example input in the ways that check_layer compares.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"

namespace isobar {

// The results of one training step: y, then the gradients of the float inputs and of every parameter, for a
// fixed random dy.
struct LayerStep {
  Tensor y;
  std::vector<Tensor> gradients;
  bool dy_kept = true;  // backward did not write to the given dy

  // The elements of all these tensors.
  std::vector<double> numbers() const;
  // The largest difference of two elements, relative to the largest element of their tensor.
  double distance(const LayerStep& other) const;
  bool y_finite() const;
  bool gradients_finite() const;
};

struct LayerSignal {
  double std_ratio, gradient_ratio;
};

class LayerTrial {
 public:
  using Inputs = std::vector<Tensor>;

  LayerTrial(const LayerMaker& make, const LayerInputs& x, const LayerCall& call)
      : make_(make), x_(x), call_(call) {}

  std::unique_ptr<Module> made() const { return make_(); }
  // The layer with noise of std 0.2 added to its parameters, drawn by name.
  std::unique_ptr<Module> moved(Dtype dtype = Dtype::f64) const;
  // The example; the same values as strided tensors; with `count` rows; with rows repeated to about
  // `elements` elements, in f32.
  Inputs input(Dtype dtype = Dtype::f64) const;
  Inputs spread_input() const;
  Inputs rows(int64_t count) const;
  Inputs enlarged(int64_t elements) const;
  // "x", or "x[0]", "x[1]", …
  std::string name_of_input(size_t i) const;

  Tensor call(Module& module, const Inputs& x) const;
  // y of a forward on a tape of its own.
  Tensor output(Module& module, const Inputs& x) const;
  LayerStep step(Module& module, const Inputs& x) const;
  // The same step with the forward under recompute().
  LayerStep recomputed_step(Module& module, const Inputs& x) const;
  // With respect to the inputs and every parameter.
  std::vector<Jacobian> jacobians(bool training, double tolerance) const;
  // Calls the layer twice on one tape: the gradients of the two calls must add up. Returns what is wrong, or
  // "".
  std::string compare_two_uses() const;
  // Says which trainable tensor forward uses and fields() does not list, or "".
  std::string stray_leaf(Module& module) const;
  LayerSignal signal() const;

  // Sets random() and same_in_evaluation().
  void compare_modes();
  bool random() const { return random_; }  // training draws from the tape's rng
  bool same_in_evaluation() const { return same_in_evaluation_; }

 private:
  LayerStep step_of(Module& module, const Inputs& input,
                    const std::function<Tensor(const Inputs&)>& forward) const;

  const LayerMaker make_;
  const Inputs x_;
  const LayerCall call_;
  bool random_ = false, same_in_evaluation_ = true;
};

}  // namespace isobar
