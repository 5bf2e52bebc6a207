// Optimizer: a list of tensors and a step() that moves each along its gradient.
//
//   AdamW optimizer(parameters(model), {.lr = 1e-3});
//   tape.backward(loss);
//   optimizer.set_lr(schedule(i));
//   optimizer.step();                   // uses up the gradients
//
// The optimizer needs no tape: a parameter carries its gradient. It belongs to one thread at a time; the
// step itself uses all of them and gives the same bits for any number. What it remembers between steps is
// listed by fields(), like a module's buffers, so whatever saves and loads modules does the same for
// optimizers.
#pragma once

#include <optional>
#include <span>
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
  // alone: neither its value nor its state nor its step count changes.
  void step();

  // The learning rate, finite and not negative.
  double lr() const { return lr_; }
  void set_lr(double lr);

  // The state as buffers: "steps", i64, how often each parameter was updated; and "<i>.<name>", shaped like
  // parameter i (counted through the groups), for every name that the optimizer keeps. All exist from the
  // start, zero, so that a saved state can be copied into a fresh optimizer.
  void fields(Fields& f) override;

 protected:
  // One parameter and what an update of it may use.
  struct Update {
    Tensor& parameter;
    Tensor gradient;          // contiguous, same shape and dtype
    std::span<Tensor> state;  // in the order of the names given to the constructor
    int64_t count;            // number of this update of this parameter, from 1
    double lr, weight_decay;  // as its group has them
  };

  // `op` stands in front of errors. Throws Error for an empty list, for parameters that are undefined, not
  // floats, not contiguous or given twice, and for settings below zero or not finite.
  Optimizer(std::string op, const std::vector<ParameterGroup>& groups, double lr, double weight_decay,
            std::vector<std::string> state_names);

  virtual void update(const Update& u) = 0;

 private:
  struct Parameter {
    Tensor tensor;
    double lr_scale, weight_decay;
    std::vector<Tensor> state;
  };

  void add(const Tensor& tensor, double lr_scale, double weight_decay);

  const std::string op_;
  const std::vector<std::string> state_names_;
  double lr_;
  std::vector<Parameter> parameters_;
  Tensor steps_;
};

}  // namespace isobar
