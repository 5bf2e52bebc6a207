// Observation: std, mean, rms and gradient norm of every module's output, without a line in any layer.
//
//   Probe probe;
//   {
//     Watch watch(model, probe);       // attaches; detaches when it goes out of scope
//     Tape tape;
//     Tensor loss = cross_entropy(model(x), y);
//     tape.backward(loss);
//   }
//   for (const ModuleSignal& m : probe.signals()) fmt::print("{} {}\n", m.path, m.std);
#pragma once

#include <map>
#include <string>
#include <vector>

#include "module.h"

namespace isobar {

// Sees a watched module's output going forward and its gradient coming back. Called outside of recording.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_output(const Module& module, const Tensor& y) = 0;
  virtual void on_output_gradient(const Module& module, const Tensor& dy) = 0;
};

// Mean, sample std (n − 1), root mean square and Frobenius norm over all elements; sums in double, variance
// in two passes.
struct Moments {
  double mean = 0, std = 0, rms = 0, norm = 0;
};
Moments moments_of(const Tensor& x);

// What a Probe keeps of one module. NaN where nothing was seen.
struct ModuleSignal {
  std::string path;
  std::string type;
  Moments output;
  double gradient_norm;  // Frobenius norm of the gradient of the output
};

// What read_weights() and update ratios say of one parameter.
struct WeightSignal {
  std::string name;
  double norm;           // of the values
  double gradient_norm;  // of the gradient, before clipping if read before
  double
      update_ratio;  // |w_after − w_before| / |w_before|; NaN unless before_step and after_step were called
};

// Keeps the last output's moments and gradient norm per module path. A module called several times in one
// step keeps the last call.
class Probe : public Observer {
 public:
  void on_output(const Module& module, const Tensor& y) override;
  void on_output_gradient(const Module& module, const Tensor& dy) override;

  // After backward and before step: gradient norms, and a copy of the values.
  void before_step(HasFields& model);
  // After step: update ratios against the copy.
  void after_step(HasFields& model);

  // In the order of the modules' first calls (children before the parents that called them).
  const std::vector<ModuleSignal>& signals() const { return signals_; }
  const ModuleSignal* find(const std::string& path) const;
  const std::vector<WeightSignal>& weights() const { return weights_; }
  void clear();

 private:
  ModuleSignal& entry(const Module& module);

  std::vector<ModuleSignal> signals_;
  std::map<std::string, size_t> index_;
  std::vector<WeightSignal> weights_;
  std::vector<Tensor> values_before_;
};

// Attaches an observer to every module of a model and assigns paths; detaches when destroyed. The model must
// stay where it is meanwhile.
class Watch {
 public:
  Watch(HasFields& model, Observer& observer);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::vector<NamedModule> modules_;
};
inline Watch watch(HasFields& model, Observer& observer) { return Watch(model, observer); }

}  // namespace isobar
