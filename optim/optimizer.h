// Optimizer: a list of tensors and a step() that moves each along its gradient.
//
//   AdamW optimizer(parameters(model), {.lr = 1e-3});
//   tape.backward(loss);
//   optimizer.set_lr(schedule(i));
//   optimizer.step();                   // uses up the gradients
//
// The optimizer needs no tape: a parameter carries its gradient. It belongs to one thread at a time; the
// step itself uses all of them, in one pass over all parameters, and gives the same bits for any number. What
// it remembers between steps is listed by fields(), like a module's buffers, so whatever saves and loads
// modules does the same for optimizers.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "../core/fields.h"
#include "../core/tensor.h"

namespace isobar {

// Parameters that share settings: typically matrices with weight decay, and biases and gains without.
struct ParameterGroup {
  std::vector<Tensor> parameters;
  std::optional<double> weight_decay = std::nullopt;  // in place of the optimizer's
  double lr_scale = 1;                                // times the optimizer's learning rate
};

class Optimizer : public HasFields {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates every parameter that has a gradient, and clears that gradient. A parameter without one is left
  // alone: neither its value nor its state nor its step count changes. Gradients count `factor` times:
  // clipping them on the way (see clip_factor) saves a pass over them.
  void step(double factor = 1);

  // The learning rate, finite and not negative.
  double lr() const { return lr_; }
  void set_lr(double lr);

  // The state as buffers: "steps", i64, how often each parameter was updated; and "<i>.<name>", shaped like
  // parameter i (counted through the groups), for every name that the optimizer keeps. All exist from the
  // start, zero, so that a saved state can be copied into a fresh optimizer.
  void fields(Fields& f) override;

 protected:
  static constexpr size_t max_states = 2;

  // A run of n elements of one parameter, and what an update of them may use. T is the parameter's dtype.
  struct Update {
    Dtype dtype = Dtype::f32;
    Shape shape;                      // the parameter's
    int64_t begin = 0, n = 0;         // elements begin … begin + n
    int64_t count = 0;                // number of this update of this parameter, from 1
    double lr = 0, weight_decay = 0;  // as its group has them
    double factor = 1;                // on the gradient

    // The weights, their gradient, and state k in the order of the names given to the constructor.
    template <class T>
    T* w() const {
      return static_cast<T*>(weights) + begin;
    }
    template <class T>
    const T* dw() const {
      return static_cast<const T*>(gradient) + begin;
    }
    template <class T>
    T* state(size_t k) const {
      return static_cast<T*>(states[k]) + begin;
    }

    void* weights = nullptr;  // these start at the parameter's first element
    const void* gradient = nullptr;
    std::array<void*, max_states> states{};
  };

  // `op` stands in front of errors. Throws Error for an empty list, for parameters that are undefined, not
  // floats, not contiguous or given twice, and for settings below zero or not finite.
  Optimizer(std::string op, const std::vector<ParameterGroup>& groups, double lr, double weight_decay,
            std::vector<std::string> state_names);

  // Moves the run's weights and their state. Called by many threads at once, for different runs.
  virtual void update(const Update& u) const = 0;
  // Moves all parameters that have a gradient, each given whole: update() for runs that the threads share.
  // Overridden where a parameter's step is more than the steps of its elements.
  virtual void update_all(const std::vector<Update>& all) const;

 private:
  struct Parameter {
    Tensor tensor;
    double lr_scale, weight_decay;
    std::vector<Tensor> state;
  };

  void add(const Tensor& tensor, double lr_scale, double weight_decay);
  Update prepare(Parameter& parameter, int64_t count, double factor) const;

  const std::string op_;
  const std::vector<std::string> state_names_;
  double lr_;
  std::vector<Parameter> parameters_;
  std::vector<Update> updates_;  // of the parameters that have a gradient; meant only during a step
  Tensor steps_;
};

}  // namespace isobar
