// LayerTrial: a layer and an example input, run in the ways that check_layer compares.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"

namespace isobar {

// What one training step computes: y, then the gradients of x (if it has one) and of every parameter, for a
// fixed dy.
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
  LayerTrial(const LayerMaker& make, const Tensor& x) : make_(make), x_(x) {}

  std::unique_ptr<Module> made() const { return make_(); }
  // The layer with its parameters moved a little, by name.
  std::unique_ptr<Module> moved(Dtype dtype = Dtype::f64) const;
  // The example; the same numbers with gaps between them; its first rows; repeated to about `elements`
  // elements.
  Tensor input(Dtype dtype = Dtype::f64) const;
  Tensor spread_input() const;
  Tensor rows(int64_t count) const;
  Tensor enlarged(int64_t elements) const;

  // y alone.
  Tensor output(Module& module, const Tensor& x) const;
  LayerStep step(Module& module, const Tensor& x) const;
  // By x and by every parameter.
  std::vector<Jacobian> jacobians(bool training, double tolerance) const;
  // Calls the layer on two inputs on one tape: their gradients must add up. What is wrong, or "".
  std::string compare_two_uses() const;
  // A trainable tensor that forward uses and fields() does not list, or "".
  std::string stray_leaf(Module& module) const;
  LayerSignal signal() const;

  void find_out_whether_random();
  bool random() const { return random_; }  // training draws from the tape's key
  bool same_in_evaluation() const { return same_in_evaluation_; }

 private:
  const LayerMaker make_;
  const Tensor x_;
  bool random_ = false, same_in_evaluation_ = true;
};

}  // namespace isobar
