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
//
// A new optimizer takes four steps:
//   1. optim/x.h: its options, and a class with two constructors and update(), which moves a run of elements
//      (sgd.h and sgd.cpp are the example; tests/optim/new_optimizer_test.cpp has one in 20 lines);
//   2. a kernel in core/kernels/optim.h, where the loop over the elements is worth a page of its own;
//   3. one line in optim/optim.h;
//   4. rows in tests/optim/optimizer_test.cpp: values after five steps from another library. The tests of bits,
//      resuming, clipping and convergence take them from there.
#pragma once

#include <array>
#include <functional>

#include "../core/fields.h"

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

  // Updates every parameter that has a gradient, and clears that gradient. A parameter without a gradient
  // keeps its value, state and step count. So does a parameter that has been frozen (set_trainable(false)),
  // whose gradient is only cleared. Gradients are multiplied by `factor`: clipping them here (see
  // clip_factor) saves a pass over them.
  //
  // Returns how many parameters moved. Throws Error, and moves none, where some are trainable and none of
  // these has a gradient; and where a parameter can get no gradient any more, because the optimizer alone
  // still holds it, or a trainable one was replaced by convert(), or by a move to a part of its model, as in
  // model.head = Linear(…), since a model or an optimizer last listed it. Throws Error, too, where a
  // gradient is a sum across steps: a step of another optimizer on this thread has left it, and a later backward
  // has added to it, as where the loss of a generator reaches the discriminator that is trained next.
  int64_t step(double factor = 1);

  // From now on step() asks for the model's parameters, and throws Error where a trainable one of this
  // optimizer is not among them any more: it was replaced, and something else than the model still holds the
  // old tensor, such as a list that a program keeps for clipping.
  //
  //   optimizer.follow([&] { return parameters(model); });
  void follow(std::function<std::vector<Tensor>()> parameters) { model_ = std::move(parameters); }

  // The learning rate, finite and not negative.
  double lr() const { return lr_; }
  void set_lr(double lr);

  // The state as buffers: "steps", i64, how often each parameter was updated; and "<i>.<name>", shaped like
  // parameter i (counted through the groups), for every name that the optimizer keeps. All exist from the
  // start, zero, so that a saved state can be copied into a fresh optimizer, of the same
  // list in the same order.
  void fields(Fields& f) override;

 protected:
  static constexpr size_t max_states = 4;

  // What an optimizer is called, and what it keeps for every element.
  struct Kind {
    const char* op;                   // at the start of errors: "adam_w"
    const char* writer;               // in backward's error on an overwritten value: "AdamW's step"
    std::vector<std::string> states;  // at most max_states: "first_moment", "second_moment"
  };

  // n elements of a parameter: the weights w, their gradient dw, and their states in the order of
  // Kind::states.
  template <class T>
  struct Slice {
    int64_t n;
    T* w;
    const T* dw;
    std::array<T*, max_states> state;

    // Elements begin … end of these.
    Slice part(int64_t begin, int64_t end) const {
      Slice result{end - begin, w + begin, dw + begin, state};
      for (T*& s : result.state) s = s != nullptr ? s + begin : nullptr;
      return result;
    }
  };

  // One parameter in one step.
  struct Update {
    Shape shape;
    int64_t count = 0;                              // number of this update of this parameter, from 1
    double lr = 0, weight_decay = 0;                // of its group
    double factor = 1;                              // on the gradient
    std::variant<Slice<float>, Slice<double>> all;  // its elements, in its dtype

    // Calls f(run) with a Slice<float> or a Slice<double>: the whole parameter, or elements begin … end.
    template <class F>
    void whole(const F& f) const {
      std::visit(f, all);
    }
    template <class F>
    void part(int64_t begin, int64_t end, const F& f) const {
      std::visit([&](const auto& run) { f(run.part(begin, end)); }, all);
    }
  };

  // Throws Error for an empty list; for parameters that are undefined, not floats, not trainable, computed by
  // an op, not contiguous, given twice or on numbers of another one; and for settings below zero or not
  // finite.
  Optimizer(const Kind& kind, const std::vector<ParameterGroup>& groups, double lr, double weight_decay);

  // Moves elements begin … end of a parameter, and their state. Called by many threads at once, for different
  // runs.
  virtual void update(const Update& u, int64_t begin, int64_t end) const = 0;
  // Moves all parameters that have a gradient: update() for runs that the threads share. Overridden where a
  // parameter's step is more than the steps of its elements.
  virtual void update_all(const std::vector<Update>& all) const;

 private:
  struct Parameter {
    Tensor tensor;
    double lr_scale, weight_decay;
    std::vector<Tensor> state;
  };

  void check_apart() const;
  void check_followed() const;
  void check_movable() const;
  Update prepare(Parameter& parameter, int64_t count, double factor) const;

  const Kind kind_;
  double lr_;
  std::function<std::vector<Tensor>()> model_;
  std::vector<Parameter> parameters_;
  std::vector<Update> updates_;  // of the parameters that have a gradient; valid during a step only
  Tensor steps_;
};

}  // namespace isobar
