#include "check_layer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../autograd/tape.h"
#include "check/gradient_check.h"
#include "check/layer_checks.h"
#include "check/layer_trial.h"
#include "model.h"

namespace isobar {
namespace {

using Outcome = LayerCheck::Outcome;
using Inputs = LayerTrial::Inputs;

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// The names of fields() that are neither trainable nor buffers.
class Untrained : public Fields {
 public:
  std::vector<std::string> names;

 protected:
  void on_parameter(std::string_view name, Tensor& tensor) override {
    if (!tensor.trainable()) names.emplace_back(name);
  }
  void on_part(std::string_view, HasFields& part) override { part.fields(*this); }
};

// One layer under test. Every check makes its own instance of it.
class Examination {
 public:
  Examination(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options)
      : trial_(make, x, options), options_(options) {
    std::string type = "layer";
    thrown([&] { type = trial_.made()->type_name(); });  // fields() reports what it throws
    std::vector<std::string> shapes;
    for (const Tensor& one : x) shapes.push_back(one.shape().text());
    report_.layer = fmt::format("{} on x {}", type, listed(shapes));
    report_.std_ratio = report_.gradient_ratio = std::nan("");
  }

  LayerReport run() {
    check("fields", [&] { return fields(); });
    if (!check("forward", [&] { return forward(); })) return report_;
    const bool repeats = check("repeated calls", [&] { return repeated(trial_); });
    check("inputs untouched", [&] { return untouched(); });
    if (repeats) gradients();
    check("used twice", [&] { return used_twice(); });
    if (repeats) check("another call", [&] { return another_call(trial_); });
    check("save and load", [&] { return save_and_load(trial_); });
    check("train and eval", [&] { return train_and_eval(trial_); });
    check("recompute", [&] { return recomputed(trial_); });
    check("composed form", [&] { return composed(); });
    for (int64_t size : {0, 1}) check(fmt::format("batch of {}", size), [&] { return batch(size); });
    check("large batch", [&] { return large_batch(); });
    check("strided input", [&] { return strided(trial_); });
    check("1, 2, 8 threads", [&] { return thread_counts(trial_); });
    check("f32 against f64", [&] { return narrow(trial_); });
    check("signal", [&] { return signal(); });
    return report_;
  }

 private:
  // Runs one check and adds its result to the report; an exception is a failure. Returns false if it failed.
  template <class Body>
  bool check(const std::string& name, const Body& body) {
    if (options_.progress != nullptr) options_.progress(name);
    LayerCheck result{name, Outcome::failed, ""};
    const std::string error = thrown([&] { result = body(); });
    result.name = name;
    if (!error.empty()) result.text = error;
    report_.checks.push_back(result);
    return result.outcome != Outcome::failed;
  }
  LayerCheck forward() {
    Shape shape;
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      const Tensor y = trial_.output(*trial_.moved(dtype), trial_.input(dtype));
      shape = y.shape();
      if (y.dtype() != dtype)
        return failed(fmt::format("y must be {} as the layer is, got {}", dtype, y.dtype()));
      if (options_.output_shape && shape != *options_.output_shape)
        return failed(fmt::format("y must be {}, got {}", *options_.output_shape, shape));
      if (const std::string wrong = not_finite({{"y", y}}); !wrong.empty())
        return failed(fmt::format("y {} holds NaN or infinity: {}", shape, wrong));
    }
    return passed(fmt::format("y {}", shape));
  }

  // The gradients of x and the parameters, in training, and in evaluation if that computes something else.
  void gradients() {
    for (const bool training : {true, false}) {
      const std::string mode = training ? "" : ", in evaluation";
      if (!training && trial_.same_in_evaluation()) break;
      std::vector<Jacobian> all;
      const std::string error = thrown([&] { all = jacobians(training, mode); });
      if (!error.empty()) report_.checks.push_back({"gradients" + mode, Outcome::failed, error});
      choose_diagnosis(report_, all, options_.tolerance);
    }
  }

  // Adds a check for each gradient.
  std::vector<Jacobian> jacobians(bool training, const std::string& mode) {
    if (training) trial_.compare_modes();
    const std::vector<Jacobian> all = trial_.jacobians(trial_.input(), training, options_.tolerance);
    bool expected = options_.expected == nullptr;
    for (const Jacobian& j : all) {
      LayerCheck result = gradient_check(j, options_.tolerance, mode);
      const bool right = j.right(options_.tolerance);
      expected |= j.as_expected;
      if (right && j.as_expected)
        result.text = "as expected: not the slope of y, but that of options.expected; " + result.text;
      if (right && !j.on_tape && trial_.unused(j.name))
        result = {result.name, Outcome::failed,
                  "forward uses it neither in training nor in evaluation; use it, or remove it"};
      report_.checks.push_back(result);
    }
    isobar::check(expected, "options.expected: all gradients are the slopes of y itself; leave it out");
    return all;
  }

  LayerCheck untouched() {
    const auto module = trial_.moved();
    const Inputs x = trial_.input();
    std::vector<NamedTensor> watched = named_parameters(*module), before;
    for (size_t i = 0; i < x.size(); ++i) watched.push_back({trial_.name_of_input(i), x[i]});
    for (const NamedTensor& one : watched) before.push_back({one.name, clone(one.tensor.detach())});
    LayerStep step;
    try {
      step = trial_.step(*module, x);
    } catch (const Error& error) {
      return skipped(error.what());  // gradients() reports it
    }
    const std::string differs = difference(watched, before);
    if (!differs.empty()) return failed(differs + ", it was written to; ops return new tensors");
    if (!step.dy_kept)
      return failed("backward wrote to dy while others could see it; use room_for_gradient(dy)");
    const std::string text = "neither x, a parameter nor dy was written to";
    if (step.idle.empty()) return passed(text);
    return passed(
        fmt::format("{}; y does not depend on these recorded ops: {}; NoTape saves them", text, step.idle));
  }

  LayerCheck used_twice() {
    const std::string wrong = trial_.compare_two_uses();
    if (!wrong.empty() && report_.diagnosis.cause == Cause::none)
      report_.diagnosis = {Cause::overwritten, wrong};
    return wrong.empty() ? passed("the gradients of two uses add up") : failed(wrong);
  }

  LayerCheck composed() {
    if (options_.expected != nullptr) return skipped("options.expected is given");
    if (report_.diagnosis.cause != Cause::none) return skipped("the gradients are wrong");
    const Inputs x = trial_.input();
    const auto module = trial_.moved(Dtype::f64, !trial_.random()),
               other = trial_.moved(Dtype::f64, !trial_.random());
    std::string differs, wrong;
    const std::string error = thrown([&] {
      const LayerStep higher = trial_.step(*other, x, {.higher_order = true});
      differs = difference(higher.values, trial_.step(*module, x).values, 1e-9);
      if (differs.empty()) wrong = trial_.wrong_second_derivative(1e-5);
    });
    if (!differs.empty())
      return failed(
          differs +
          ", on a tape for second derivatives; is the form under composed_wanted() the same formula?");
    if (error.empty() && wrong.empty())
      return passed("the same values and gradients; second derivatives agree with differences");
    return skipped(
        fmt::format("second derivatives: none (a fused op without composed form; add: if (composed_wanted()) "
                    "return the formula in ops): {}{}",
                    error, wrong));
  }

  // Runs on the layer as made, in f32: convert() does not reach a tensor that fields() omits.
  LayerCheck fields() {
    const auto module = trial_.made();
    std::set<std::string> names;
    for (const NamedTensor& entry : named_state(*module))
      if (!names.insert(entry.name).second)
        return failed(fmt::format("the name {} is listed twice", entry.name));
    const std::string stray = trial_.stray_leaf(*module);
    if (!stray.empty()) return failed(stray);
    Untrained untrained;
    module->fields(untrained);
    if (!untrained.names.empty())
      return failed(
          fmt::format("{} is listed as a parameter and is not trainable; list it with f.buffer, or make it "
                      "with set_trainable()",
                      untrained.names[0]));
    return passed(names.empty() ? "no state" : listed({names.begin(), names.end()}));
  }

  LayerCheck batch(int64_t size) {
    const auto module = trial_.moved();
    const Inputs x = trial_.rows(size);
    try {
      trial_.output(*module, x);
    } catch (const Error& error) {
      return passed(fmt::format("refused: {}", error.what()));
    }
    const LayerStep step = trial_.step(*module, x);
    const Tensor whole = trial_.output(*trial_.moved(), trial_.input());
    const bool keeps_batch = whole.ndim() > 0 && whole.size(0) == trial_.batch();
    const std::string wrong = not_finite(step.values);
    if (!keeps_batch && size == 0 && !not_finite({step.values[0]}).empty())
      return skipped(fmt::format("y {} does not keep the batch, and is NaN without one", whole.shape()));
    if (!wrong.empty()) return failed(fmt::format("{}, for x {}", wrong, x[0].shape()));
    const Shape wanted = keeps_batch ? whole.shape().with(0, size) : step.y.shape();
    if (step.y.shape() != wanted) return failed(fmt::format("y must be {}, got {}", wanted, step.y.shape()));
    const bool judged = size > 0 && report_.diagnosis.cause == Cause::none;
    const std::string gradient = judged ? trial_.wrong_gradient(x, options_.tolerance) : "";
    return gradient.empty() ? passed(fmt::format("y {}", wanted)) : failed(gradient);
  }

  // A prime number of rows beyond 1024: kernels cut them into chunks, and every loop over 2, 4, 8, … rows has a
  // tail.
  LayerCheck large_batch() {
    const int64_t rows = std::max<int64_t>(1031, trial_.batch());
    if (report_.diagnosis.cause != Cause::none) return skipped("the gradients are wrong");
    std::string differs;
    try {
      differs = trial_.compare_rows(rows);
    } catch (const Error& error) {
      return passed(fmt::format("refused: {}", error.what()));
    }
    if (differs.empty()) return passed(fmt::format("{} rows give what the small batch gives", rows));
    const std::string wrong = trial_.wrong_gradient(trial_.rows(rows), options_.tolerance);
    if (wrong.empty()) return passed(fmt::format("{} rows mix; gradients agree with differences", rows));
    return failed(fmt::format(
        "{} (for {} rows, which repeat the example); are the last rows of a large batch left out?", differs,
        rows));
  }

  LayerCheck signal() {
    const LayerSignal found = trial_.signal();
    report_.std_ratio = found.std_ratio;
    report_.gradient_ratio = found.gradient_ratio;
    if (std::isnan(found.std_ratio)) return skipped("x holds indices");
    const std::string text = fmt::format("multiplies the std by {:.3g} at init, the gradient's rms by {:.3g}",
                                         found.std_ratio, found.gradient_ratio);
    const bool finite = std::isfinite(found.std_ratio) && std::isfinite(found.gradient_ratio);
    return finite ? passed(text)
                  : failed(text + ", for normal numbers; where does forward divide by 0 or overflow?");
  }

  LayerTrial trial_;
  const CheckLayerOptions options_;
  LayerReport report_;
};

}  // namespace

LayerReport check_layer(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options) {
  check(!x.empty(), "check_layer: wanted at least one example input");
  check(x.size() == 1 || options.call != nullptr,
        "check_layer: {} inputs want options.call, which says how the layer takes them", x.size());
  for (const Tensor& one : x) check(one.defined(), "check_layer: an example input is undefined");
  check(x[0].ndim() >= 1 && x[0].size(0) >= 2,
        "check_layer: wanted an example x with a batch of at least 2 as its first dimension, got {}",
        x[0].shape());
  return Examination(make, x, options).run();
}

}  // namespace isobar
