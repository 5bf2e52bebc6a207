// Optimizer: a list of tensors, and step(), which updates each of them with its gradient.
//
//   AdamW optimizer(parameters(model), {.lr = 1e-3});
//   tape.backward(loss);
//   optimizer.set_lr(schedule(i));
//   optimizer.step();                   // uses the gradients and clears them
//
// An optimizer needs no tape: each parameter has its gradient. An optimizer belongs to one thread at a time.
// The step itself uses all threads, in one pass over all parameters, and its result does not depend on their
// number. fields() lists the state between steps, like the buffers of a module, so all that saves and loads
// modules works for optimizers.
//
// A new optimizer takes four steps:
//   1. optim/x.h: its options, and a class with two constructors and update(), which updates a range of elements
//      (sgd.h and sgd.cpp are the example; tests/optim/new_optimizer_test.cpp has one in 20 lines);
//   2. a kernel in core/kernels/optim.h, if the loop over the elements is long;
//   3. one line in optim/optim.h;
//   4. entries in the tables of tests/optim/optimizer_test.cpp: values after five steps, from another library. The tests of
//      bit-identical results, resuming, clipping and convergence use these entries.
#pragma once

#include <array>
#include <functional>

#include "../core/fields.h"

namespace isobar {

// Parameters that share settings: usually matrices with weight decay, and biases and gains without.
struct ParameterGroup {
  std::vector<Tensor> parameters;
  std::optional<double> weight_decay = std::nullopt;  // in place of the optimizer's
  double lr_scale = 1;                                // times the optimizer's learning rate
};

class Optimizer : public HasFields {
 public:
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  // Updates every parameter that has a gradient, and clears the gradient. A parameter without a gradient
  // keeps its value, state and step count. So does a frozen parameter (set_trainable(false)), whose gradient
  // is cleared. Gradients are multiplied by `factor`: clipping with it (see clip_factor()) saves a pass over
  // them.
  //
  // Returns the number of updated parameters. Throws Error, and updates none, if some parameters are
  // trainable and none of these has a gradient; if a parameter can no longer get a gradient, because only the
  // optimizer still has it, or because it was replaced by convert(), or by an assignment to a part of its
  // model such as model.head = Linear(…); and if a gradient is a sum across steps: another optimizer on this
  // thread made a step without using it, and a later backward pass added to it, as when the loss of a
  // generator reaches the discriminator that is trained next.
  int64_t step(double factor = 1);

  // Makes step() ask for the parameters of the model, and throw Error if a trainable parameter of this
  // optimizer is no longer one of them: it was replaced, and something else than the model still has the old
  // tensor, such as a program's list of parameters for clipping.
  //
  //   optimizer.follow([&] { return parameters(model); });
  void follow(std::function<std::vector<Tensor>()> parameters) { model_ = std::move(parameters); }

  // The learning rate, finite and not negative.
  double lr() const { return lr_; }
  void set_lr(double lr);

  // Lists the state as buffers: "steps", i64, the number of updates of each parameter; and "<i>.<name>", of
  // the shape of parameter i (counted through the groups), for each state of the optimizer, such as
  // "0.first_moment". They exist from the start, as zeros, so a saved state can be copied to a new optimizer
  // of the same list in the same order.
  void fields(Fields& f) override;

 protected:
  static constexpr size_t max_states = 4;

  // The names of an optimizer, and of its state for every element.
  struct Kind {
    const char* op;                   // at the start of errors: "adam_w"
    const char* writer;               // in the error of backward() for an overwritten value: "AdamW's step"
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
  // an op, not contiguous, listed twice or sharing the storage of another one; and for settings that are
  // negative or not finite.
  Optimizer(const Kind& kind, const std::vector<ParameterGroup>& groups, double lr, double weight_decay);

  // Updates elements begin … end of a parameter, and their state. Called by many threads at once, for
  // different ranges.
  virtual void update(const Update& u, int64_t begin, int64_t end) const = 0;
  // Updates all parameters that have a gradient, by calls of update() for ranges of elements. Override it if
  // the step of a parameter is more than the steps of its elements.
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
