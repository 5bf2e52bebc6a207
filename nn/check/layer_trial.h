// LayerTrial: a layer and an example input, run in the ways that check_layer compares.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"

namespace isobar {

// What one training step computes: y, then the gradients of the inputs (those that have one) and of every
// parameter, for a fixed dy.
struct LayerStep {
  Tensor y;
  std::vector<Tensor> gradients;
  bool dy_kept = true;  // backward left the dy that we gave it alone

  // All of them, joined.
  std::vector<double> numbers() const;
  // The largest difference of two numbers, relative to the largest number of its tensor.
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
  // The layer with its parameters moved a little, by name.
  std::unique_ptr<Module> moved(Dtype dtype = Dtype::f64) const;
  // The example; the same numbers with gaps between them; its first rows; repeated to about `elements`
  // elements.
  Inputs input(Dtype dtype = Dtype::f64) const;
  Inputs spread_input() const;
  Inputs rows(int64_t count) const;
  Inputs enlarged(int64_t elements) const;
  // "x", or "x[0]", "x[1]", …
  std::string name_of_input(size_t i) const;

  Tensor call(Module& module, const Inputs& x) const;
  // y alone.
  Tensor output(Module& module, const Inputs& x) const;
  LayerStep step(Module& module, const Inputs& x) const;
  // The same with the layer's forward computed again in backward.
  LayerStep recomputed_step(Module& module, const Inputs& x) const;
  // By x and by every parameter.
  std::vector<Jacobian> jacobians(bool training, double tolerance) const;
  // Calls the layer on two inputs on one tape: their gradients must add up. What is wrong, or "".
  std::string compare_two_uses() const;
  // A trainable tensor that forward uses and fields() does not list, or "".
  std::string stray_leaf(Module& module) const;
  LayerSignal signal() const;

  void find_out_whether_random();
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
