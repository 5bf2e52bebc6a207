// Observation: std, mean, rms and gradient norm of every module's output, without changes to any layer.
//
//   Probe probe;
//   {
//     Watch watch(model, probe);       // attaches the probe; detaches it at the end of the scope
//     Tape tape;
//     Tensor loss = cross_entropy(model(x), y);
//     tape.backward(loss);
//   }
//   for (const ModuleSignal& m : probe.signals()) fmt::print("{} {}\n", m.path, m.std);
#pragma once

#include <cstdint>
#include <map>

#include "module.h"

namespace isobar {

// Receives a watched module's output in forward and its gradient in backward. Nothing that it computes is
// recorded. The gradient is that of this call's output, summed over all uses.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_output(const Module& module, const Tensor& y) = 0;
  virtual void on_output_gradient(const Module& module, const Tensor& dy) = 0;
};

// Mean, sample standard deviation (n − 1; NaN for n = 1), root mean square and Frobenius norm over all elements, summed
// in double, the variance in two passes.
struct Moments {
  double mean = 0, std = 0, rms = 0, norm = 0;
};
// Returns the moments of x. Throws Error for integers.
Moments moments_of(const Tensor& x);

// The share of a row x along 1 = (1, …, 1) is its cosine with it, (x · 1) / (√C |x|): 1 where all elements
// are equal, about 1/√C for a random direction. This is the root mean square over the rows of x (…, C), in
// f64; NaN where a row is all zeros.
double rms_alignment(const Tensor& x);

// A Probe's measurements of one module. NaN where nothing was seen, and for an output of integers.
struct ModuleSignal {
  std::string path;
  std::string type;
  Moments output;
  double gradient_norm;  // Frobenius norm of the gradient of the output
};

// A Probe's measurements of one parameter; all norms are Frobenius norms. NaN where nothing was seen.
struct WeightSignal {
  std::string name;
  double norm;           // of the values before the step
  double gradient_norm;  // of the gradient
  double update_ratio;   // |after − before| / |before|
};

// Measures the moments and gradient norm of every module's output, by path. Of several calls of one module it
// keeps the last call.
class Probe : public Observer {
 public:
  void on_output(const Module& module, const Tensor& y) override;
  void on_output_gradient(const Module& module, const Tensor& dy) override;

  // Call it after backward and before clipping and step: takes gradient norms and a copy of the values.
  void before_step(HasFields& model);
  // Call it after step: computes update ratios against the copy. Throws Error unless before_step saw the same
  // parameters.
  void after_step(HasFields& model);

  // In the order of the modules' first calls (children before the parents that called them).
  const std::vector<ModuleSignal>& signals() const { return signals_; }
  const ModuleSignal* find(const std::string& path) const;
  const std::vector<WeightSignal>& weights() const { return weights_; }
  void clear() { *this = {}; }

 private:
  struct Entry {
    size_t index;
    bool awaits_gradient;  // of the last call: its gradient arrives first in backward
  };

  std::vector<ModuleSignal> signals_;
  std::map<std::string, Entry> entries_;
  std::vector<WeightSignal> weights_;
  std::vector<Tensor> values_before_;
};

// The link between a module and its observers, shared by the module, its watches and the tape: the module may
// be moved or destroyed while it is watched, or before its gradient is computed.
class Watch;
struct Observation {
  struct Seen {
    const Watch* watch;
    Observer* observer;
    const std::string* name;  // of the module, in what that Watch watches
  };

  Module* module;  // null after the module is destroyed
  std::vector<Seen> seen_by;
  const std::string* name = nullptr;  // while an observer is told

  template <class Tell>
  void tell(const Tell& tell_one) {
    struct Restore {
      const std::string*& name;
      const std::string* const before = name;
      ~Restore() { name = before; }
    } restore{name};
    for (const Seen& seen : seen_by) {
      name = seen.name;
      tell_one(*seen.observer);
    }
  }
};

// Attaches an observer to every module of a model, or of a part of one; detaches it when destroyed. The
// observer finds each module under its name in what is watched; the modules' own paths, which dropout's keys
// depend on, stay as they are. Several watches may be on one model; each observer sees every module.
class Watch {
 public:
  [[nodiscard]] Watch(HasFields& model, Observer& observer);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  Watch() = default;

  std::vector<std::shared_ptr<Observation>> watched_;
};

}  // namespace isobar
