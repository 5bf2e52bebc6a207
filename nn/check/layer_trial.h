// LayerTrial: runs a layer on an example input in the ways that check_layer compares.
#pragma once

#include <string>
#include <vector>

#include "../check_layer.h"
#include "difference.h"

namespace isobar {

using Inputs = std::vector<Tensor>;

// One training step: how it is run, and its results.
struct LayerRun {
  Inputs x = {};       // default: the example
  Inputs second = {};  // the input of a second call on the same tape
  Tensor dy = {};      // default: standard normal numbers, the same in every step
  Dtype dtype = Dtype::f64;
  bool training = true;
  bool recompute = false;     // the forward under recompute()
  bool higher_order = false;  // on a tape for second derivatives
};
struct LayerStep {
  // "y", "gradient of x" and of every parameter, then the state that is not trained, as the step left it.
  std::vector<NamedTensor> values;
  std::vector<std::string> used;  // names of the inputs and parameters that the forward recorded a use of
  std::vector<Shape> unlisted;    // other trainable tensors that it used
  bool on_tape = false;           // y was recorded
  bool dy_kept = true;            // backward did not write to the given dy
  std::string idle;               // recorded ops that y does not depend on
};

// Calls visit(name, tensor) for what a module lists as parameters, tied and frozen ones included, by its own name.
class EachParameter : public Fields {
 public:
  using Visit = std::function<void(std::string_view name, Tensor& tensor)>;
  EachParameter(HasFields& module, Visit visit) : visit_(std::move(visit)) { module.fields(*this); }

 protected:
  void on_parameter(std::string_view name, Tensor& tensor) override { visit_(name, tensor); }
  void on_part(std::string_view, HasFields& part) override { part.fields(*this); }

 private:
  const Visit visit_;
};

class LayerTrial {
 public:
  LayerTrial(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options)
      : make_(make), x_(x), options_(options) {}

  const CheckLayerOptions& options() const { return options_; }
  // Throws Error where the maker returns null.
  std::unique_ptr<Module> made() const;
  // The layer with noise of std 0.2 added to its parameters, drawn by name.
  std::unique_ptr<Module> moved(Dtype dtype = Dtype::f64, bool training = true) const;
  // The example; the same values as strided tensors; with `count` rows; other values in the example's range, of
  // `count` rows; normal numbers, of about 2¹⁴ elements.
  Inputs input(Dtype dtype = Dtype::f64) const;
  Inputs spread_input() const;
  Inputs rows(int64_t count, Dtype dtype = Dtype::f64) const;
  Inputs other_rows(int64_t count) const;
  Inputs normal_input() const;
  int64_t batch() const { return x_[0].size(0); }
  int64_t rows_of(int64_t elements) const;  // that have about so many elements, at least the example's
  // "x", or "x[0]", "x[1]", …
  std::string name_of_input(size_t i) const;

  Tensor call(Module& module, const Inputs& x) const;
  // y of a forward on a tape of its own.
  Tensor output(Module& module, const Inputs& x) const;
  LayerStep step(Module& module, const LayerRun& run) const;
  LayerStep step(const LayerRun& run) const { return step(*moved(run.dtype, run.training), run); }

  // With respect to the inputs and every parameter.
  std::vector<Jacobian> jacobians(const Inputs& x, bool training) const;
  // Compares all gradients with differences where they do not agree along one direction. Returns what is wrong, or
  // "".
  std::string wrong_gradient(const Inputs& x) const;
  // Whether gradients agree with differences along one direction; where they are right, a kink is near if not.
  bool smooth(const Inputs& x) const;
  // What is wrong with second derivatives along one direction, or "".
  std::string wrong_second_derivative() const;

  // Sets random() and same_in_evaluation().
  void compare_modes();
  bool random() const { return random_; }  // training draws from the tape's rng
  bool same_in_evaluation() const { return same_in_evaluation_; }

 private:
  struct Function {
    TensorFunction f;
    std::vector<NamedInput> inputs;
  };
  Function function(const Inputs& x, bool training, const LayerCall& call) const;
  TensorFunction line(const Inputs& x) const;

  const LayerMaker make_;
  const Inputs x_;
  const CheckLayerOptions options_;
  bool random_ = false, same_in_evaluation_ = true;
};

// Standard normal numbers, the same for every y of a shape.
Tensor upstream(const Tensor& y);
// `count` rows: the rows of x, repeated in order.
Tensor with_rows(const Tensor& x, int64_t count);

// A 1 everywhere, with stride 0, as the gradient of a sum is.
Tensor broadcast(const Tensor& dy);
// The same numbers, stored as those of a transposed tensor.
Tensor transposed(const Tensor& dy);

}  // namespace isobar
