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

// Is notified of the output of a watched module in the forward pass, and of the gradient of that output,
// summed over all its uses, in the backward pass. Nothing that it computes is recorded.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_output(const Module& module, const Tensor& y) = 0;
  virtual void on_output_gradient(const Module& module, const Tensor& dy) = 0;
};

// Mean, sample standard deviation (n − 1; NaN for n = 1), root mean square and Frobenius norm over all
// elements, summed in double, the variance in two passes.
struct Moments {
  double mean = 0, std = 0, rms = 0, norm = 0;
};
// Returns the moments of x. Throws Error for integers.
Moments moments_of(const Tensor& x);

// Returns the root mean square, over the rows of x (…, C), of the cosine of a row with 1 = (1, …, 1), which
// is (x · 1) / (√C |x|): 1 if all elements are equal, about 1/√C for a random direction. Computed in f64; NaN
// if a row is zero.
double rms_alignment(const Tensor& x);

// The measurements of one module by a Probe. NaN if there was none, and for an output of integers.
struct ModuleSignal {
  std::string path;
  std::string type;
  Moments output;
  double gradient_norm;  // Frobenius norm of the gradient of the output
};

// The measurements of one parameter by a Probe. All norms are Frobenius norms. NaN if there was no
// measurement.
struct WeightSignal {
  std::string name;
  double norm;           // of the values before the step
  double gradient_norm;  // of the gradient
  double update_ratio;   // |after − before| / |before|
};

// Measures the moments and the gradient norm of the output of every module, by path. If a module is called
// several times, the last call counts.
class Probe : public Observer {
 public:
  void on_output(const Module& module, const Tensor& y) override;
  void on_output_gradient(const Module& module, const Tensor& dy) override;

  // Measures gradient norms and copies the values. Call it after backward(), before clipping and step().
  void before_step(HasFields& model);
  // Computes update ratios from the copied values. Call it after step(). Throws Error if the parameters are
  // not those of before_step().
  void after_step(HasFields& model);

  // The measurements, in the order of the modules' first calls: children before the parents that called them.
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

// The link between a module and its observers. The module, its watches and the tape share it, because the
// module may be moved or destroyed while it is watched, or before its gradient is computed.
class Watch;
struct Observation {
  struct Seen {
    const Watch* watch;
    Observer* observer;
    const std::string* name;  // of the module, in what that Watch watches
  };

  Module* module;  // null after the module is destroyed
  std::vector<Seen> seen_by;
  const std::string* name = nullptr;  // while an observer is notified

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

// Attaches an observer to every module of a model, or of a part of a model, and detaches it when destroyed.
// The observer gets names relative to the watched model. The paths of the modules, on which the keys of
// dropout depend, do not change. A model may have several watches; each observer is notified of every module.
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
