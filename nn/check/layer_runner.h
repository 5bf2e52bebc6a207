// LayerRunner: runs a layer on an example input in the ways that check_layer compares. The checks that do.
#pragma once

#include "check_layer.h"

namespace isobar {

using Inputs = std::vector<Tensor>;

// How a training step is run, and what it gives.
struct StepSetup {
  Inputs x = {};       // default: the example
  Inputs second = {};  // the input of a second call on the same tape
  Tensor dy = {};      // default: standard normal numbers, the same in every step
  Dtype dtype = Dtype::f64;
  bool training = true;
  bool higher_order = false;  // on a tape for second derivatives
};
struct StepResult {
  // "y", "gradient of x" and of every parameter, then the state that is not trained, as the step left it.
  std::vector<NamedTensor> values;
  std::vector<std::string> used;  // names of the inputs and parameters that the forward recorded a use of
  std::vector<Shape> unlisted;    // other trainable tensors that it used
  bool on_tape = false;           // y was recorded
  bool dy_kept = true;            // backward did not write to the given dy
  std::string idle;               // recorded ops that y does not depend on
};

class LayerRunner {
 public:
  LayerRunner(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options)
      : make_(make), x_(x), options_(options) {}

  const CheckLayerOptions& options() const { return options_; }
  // Throws Error where the maker returns null.
  std::unique_ptr<Module> made() const;
  // The layer with noise of std 0.2 added to its parameters, drawn by name.
  std::unique_ptr<Module> moved(Dtype dtype = Dtype::f64, bool training = true) const;
  // The example; the same values as strided tensors; with `count` rows; other values in the example's range,
  // of `count` rows; normal numbers, of about 2¹⁴ elements.
  Inputs input(Dtype dtype = Dtype::f64) const;
  Inputs spread_input() const;
  Inputs rows(int64_t count, Dtype dtype = Dtype::f64) const;
  Inputs other_rows(int64_t count) const;
  Inputs normal_input() const;
  // Row `i` of those of `x` that have a batch, as a batch of 1; the others whole.
  Inputs row(const Inputs& x, int64_t i) const;
  int64_t batch() const { return x_[0].ndim() == 0 ? 1 : x_[0].size(0); }
  // Rows that have about so many elements, and `count` rows: at least the example's, and no more than
  // affordable.
  int64_t rows_of(int64_t elements) const;
  int64_t affordable(int64_t count) const;
  // "x", or "x[0]", "x[1]", …
  std::string name_of_input(size_t i) const;

  // Of a stateful layer in training, from the state as made.
  Tensor call(Module& module, const Inputs& x) const;
  // y of a forward on a tape of its own.
  Tensor output(Module& module, const Inputs& x) const;
  StepResult step(Module& module, const StepSetup& run) const;
  StepResult step(const StepSetup& run) const { return step(*moved(run.dtype, run.training), run); }

  // With respect to the inputs and every parameter.
  std::vector<Jacobian> jacobians(const Inputs& x, bool training) const;
  // Compares all gradients with differences where they do not agree along one direction. Returns what is
  // wrong, or "".
  std::string wrong_gradient(const Inputs& x) const;
  // Whether gradients agree with differences along one direction; where they are right, a kink is near if
  // not.
  bool smooth(const Inputs& x) const;
  // What is wrong with second derivatives along one direction, or "".
  std::string wrong_second_derivative() const;

  // Sets random(), same_in_evaluation() and dropped(), and what affordable() knows.
  void compare_modes();
  void measure_growth();
  bool random() const { return random_; }  // training draws from the tape's rng
  bool same_in_evaluation() const { return same_in_evaluation_; }
  // Where training gives zeros and otherwise evaluation's numbers times a constant above 1, that constant;
  // else 0.
  double dropped() const { return dropped_; }
  bool in_f32() const { return in_f32_; }  // forward rounds to f32, as jacobians() found
  void set_in_f32() { in_f32_ = true; }

 private:
  void reset_state(Module& module) const;
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
  double dropped_ = 0,
         square_bytes_ = 0;  // square_bytes_ · rows² is what a forward needs beyond rows · constant
  bool in_f32_ = false;
};

// difference.cpp: where two runs differ. Of the first tensor that differs, the element that is farthest apart:
// "gradient of x [2, 0]: wanted 0.5, got 0.7"; "" where all agree. They agree if they are apart by at most
// `tolerance` times the largest element of their tensor, and four times what this tensor moves between `wanted`
// and `moved`, if that is given; with tolerance 0 they are equal. NaN equals NaN.
std::string difference(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& wanted,
                       double tolerance = 0, const std::vector<NamedTensor>& moved = {});
// "gradient of x [2, 0] is NaN": the first value that is NaN or infinite, or "".
std::string not_finite(const std::vector<NamedTensor>& values);

// Standard normal numbers, the same for every y of a shape.
Tensor upstream(const Tensor& y);
// `count` rows: the rows of x, repeated in order.
Tensor with_rows(const Tensor& x, int64_t count);

// A 1 everywhere, with stride 0, as the gradient of a sum is.
Tensor broadcast(const Tensor& dy);
// The same numbers, stored as those of a transposed tensor.
Tensor transposed(const Tensor& dy);

// --- checks of two runs of a layer, or of one run and differences; each returns its result without a name
inline LayerCheck passed(std::string text) { return {"", LayerCheck::passed, std::move(text)}; }
inline LayerCheck failed(std::string text) { return {"", LayerCheck::failed, std::move(text)}; }
inline LayerCheck skipped(std::string text) { return {"", LayerCheck::skipped, std::move(text)}; }

// What body() throws, or "".
std::string thrown(const std::function<void()>& body);

// Where a layer differs after a call in training from a fresh one with the same listed state, if it has a tensor
// that fields() does not list; else "". Of the layer as made, in f32.
std::string forgotten_buffer(const LayerRunner& runner);
LayerCheck repeated(const LayerRunner& runner);
LayerCheck another_call(const LayerRunner& runner);
// Whether y depends on what it must not see: with options.causal or options.mask.
LayerCheck causal(const LayerRunner& runner);
LayerCheck masked(const LayerRunner& runner);
LayerCheck used_twice(const LayerRunner& runner);
LayerCheck save_and_load(const LayerRunner& runner);
LayerCheck composed(const LayerRunner& runner);
LayerCheck large_batch(const LayerRunner& runner);
LayerCheck strided(const LayerRunner& runner);
LayerCheck thread_counts(const LayerRunner& runner);
// Whether a row of a batch, and with options.causal its first times, give the same numbers alone.
LayerCheck rows_alone(const LayerRunner& runner);
LayerCheck narrow(const LayerRunner& runner);

// layer_report.cpp: the result for one gradient with its diagnosis; `mode` is appended to its name.
LayerCheck gradient_check(const Jacobian& j, const Diagnosis& found, double tolerance,
                          const std::string& mode);
// If a gradient is wrong and the report has no diagnosis yet, puts it there: the names of the wrong gradients
// and of the right ones, what that means, the plainest cause, and the worst entries.
void choose_diagnosis(LayerReport& report, const std::vector<Jacobian>& all, double tolerance,
                      const std::string& mode);

}  // namespace isobar
