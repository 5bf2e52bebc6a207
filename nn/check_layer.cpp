#include "check_layer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../autograd/tape.h"
#include "../core/parallel.h"
#include "check/gradient_check.h"
#include "check/layer_trial.h"
#include "model.h"

namespace isobar {
namespace {

using Outcome = LayerCheck::Outcome;

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// One layer under test. Every check makes its own instance of it.
class Examination {
 public:
  Examination(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options)
      : trial_(make, x, options.call), options_(options) {
    std::vector<std::string> shapes;
    for (const Tensor& one : x) shapes.push_back(one.shape().text());
    report_.layer = fmt::format("{} on x {}", make()->type_name(), listed(shapes));
    report_.std_ratio = report_.gradient_ratio = std::nan("");
  }

  LayerReport run() {
    check("fields", [&] { return fields(); });
    if (!check("forward", [&] { return forward(); })) return report_;
    const bool repeats = check("repeated calls", [&] { return repeated(); });
    check("inputs untouched", [&] { return untouched(); });
    if (repeats) gradients();
    check("used twice", [&] { return used_twice(); });
    check("save and load", [&] { return save_and_load(); });
    check("train and eval", [&] { return train_and_eval(); });
    check("recompute", [&] { return recomputed(); });
    for (int64_t size : {0, 1}) check(fmt::format("batch of {}", size), [&] { return batch(size); });
    check("strided input", [&] { return strided(); });
    check("1, 2, 8 threads", [&] { return thread_counts(); });
    check("f32 against f64", [&] { return narrow(); });
    check("signal", [&] { return signal(); });
    return report_;
  }

 private:
  // Runs one check and adds its result to the report; an exception is a failure. Returns false if it failed.
  template <class Body>
  bool check(const std::string& name, const Body& body) {
    LayerCheck result{name, Outcome::failed, ""};
    try {
      const LayerCheck found = body();
      result.outcome = found.outcome;
      result.text = found.text;
    } catch (const std::exception& error) {
      result.text = fmt::format("threw: {}", error.what());
    }
    report_.checks.push_back(result);
    return result.outcome != Outcome::failed;
  }
  static LayerCheck outcome(bool ok, std::string text) {
    return {"", ok ? Outcome::passed : Outcome::failed, std::move(text)};
  }

  LayerCheck forward() {
    Shape shape;
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      const Tensor y = trial_.output(*trial_.moved(dtype), trial_.input(dtype));
      shape = y.shape();
      if (y.dtype() != dtype)
        return outcome(false, fmt::format("y must be {} as the layer is, got {}", dtype, y.dtype()));
      if (options_.output_shape && shape != *options_.output_shape)
        return outcome(false, fmt::format("y must be {}, got {}", *options_.output_shape, shape));
      if (!LayerStep{y, {}}.y_finite())
        return outcome(false, fmt::format("y {} holds NaN or infinity", shape));
    }
    return outcome(true, fmt::format("y {}", shape));
  }

  LayerCheck repeated() {
    const auto module = trial_.moved(Dtype::f32);
    const LayerTrial::Inputs x = trial_.input(Dtype::f32);
    const std::vector<double> first = trial_.output(*module, x).to_vector<double>();
    if (trial_.output(*module, x).to_vector<double>() != first)
      return outcome(
          false,
          "a second call with the same input and key gives other bits: does forward keep state, or draw "
          "numbers other than from Tape::next_rng()?");
    return outcome(true, "the same bits");
  }

  // The gradients of x and the parameters, in training, and in evaluation if that computes something else.
  void gradients() {
    for (const bool training : {true, false}) {
      const std::string mode = training ? "" : ", in evaluation";
      std::vector<Jacobian> all;
      try {
        if (!training) trial_.compare_modes();
        if (!training && trial_.same_in_evaluation()) break;
        all = trial_.jacobians(training, options_.tolerance);
      } catch (const Error& error) {
        report_.checks.push_back(
            {"gradients" + mode, Outcome::failed, fmt::format("threw: {}", error.what())});
      }
      for (const Jacobian& j : all) report_.checks.push_back(gradient_check(j, options_.tolerance, mode));
      choose_diagnosis(report_, all, options_.tolerance);
    }
  }

  LayerCheck untouched() {
    const auto module = trial_.moved();
    const LayerTrial::Inputs x = trial_.input();
    std::vector<NamedTensor> watched = named_parameters(*module);
    for (size_t i = 0; i < x.size(); ++i) watched.push_back({trial_.name_of_input(i), x[i]});
    std::vector<std::vector<double>> before;
    for (const NamedTensor& one : watched) before.push_back(one.tensor.to_vector<double>());
    LayerStep step;
    try {
      step = trial_.step(*module, x);
    } catch (const Error& error) {
      return {"", Outcome::skipped, error.what()};  // gradients() reports it
    }
    for (size_t i = 0; i < watched.size(); ++i)
      if (watched[i].tensor.to_vector<double>() != before[i])
        return outcome(false, watched[i].name + " was written to; ops return new tensors");
    if (!step.dy_kept)
      return outcome(false, "backward wrote to dy while others could see it; use room_for_gradient(dy)");
    return outcome(true, "neither x, a parameter nor dy was written to");
  }

  LayerCheck used_twice() {
    const std::string wrong = trial_.compare_two_uses();
    if (!wrong.empty() && report_.diagnosis.cause == Cause::none)
      report_.diagnosis = {Cause::overwritten, wrong};
    return outcome(wrong.empty(), wrong.empty() ? "the gradients of two uses add up" : wrong);
  }

  LayerCheck recomputed() {
    const auto plain = trial_.moved(Dtype::f32), again = trial_.moved(Dtype::f32);
    const LayerTrial::Inputs x = trial_.input(Dtype::f32);
    if (trial_.step(*plain, x).numbers() != trial_.recomputed_step(*again, x).numbers())
      return outcome(false, "values or gradients change when forward is computed again in backward");
    const std::vector<NamedTensor> wanted = named_state(*plain), state = named_state(*again);
    for (size_t i = 0; i < state.size(); ++i)
      if (state[i].tensor.to_vector<double>() != wanted[i].tensor.to_vector<double>())
        return outcome(false, fmt::format("{} moves twice when forward is computed again in backward; ask "
                                          "recomputing() before you move it",
                                          state[i].name));
    return outcome(true, "the same bits when forward is computed again in backward");
  }

  // Runs on the layer as made, in f32: convert() does not reach a tensor that fields() omits.
  LayerCheck fields() {
    const auto module = trial_.made();
    std::set<std::string> names;
    for (const NamedTensor& entry : named_state(*module))
      if (!names.insert(entry.name).second)
        return outcome(false, fmt::format("the name {} is listed twice", entry.name));
    const std::string stray = trial_.stray_leaf(*module);
    if (!stray.empty()) return outcome(false, stray);
    return outcome(true, names.empty() ? "no state" : listed({names.begin(), names.end()}));
  }

  LayerCheck save_and_load() {
    const auto original = trial_.moved(Dtype::f32), fresh = trial_.moved(Dtype::f32);
    trial_.step(*original, trial_.input(Dtype::f32));  // updates running statistics, if there are any
    for (NamedTensor& one : named_state(*fresh))
      if (is_float(one.tensor.dtype())) assign(one.tensor, full(one.tensor.shape(), 0.5, one.tensor.dtype()));
    load_state(*fresh, named_state(*original));
    eval(*original);
    eval(*fresh);
    const LayerTrial::Inputs x = trial_.input(Dtype::f32);
    return outcome(trial_.step(*fresh, x).numbers() == trial_.step(*original, x).numbers(),
                   "loaded by name into a second one, which then computes the same");
  }

  LayerCheck train_and_eval() {
    const auto module = trial_.moved(Dtype::f32);
    eval(*module);
    for (const NamedModule& part : named_modules(*module))
      if (part.module->training()) return outcome(false, fmt::format("eval() does not reach {}", part.path));
    const auto state = [&] {
      std::vector<std::vector<double>> values;
      for (const NamedTensor& entry : named_state(*module))
        values.push_back(entry.tensor.to_vector<double>());
      return values;
    };
    const auto before = state();
    const LayerTrial::Inputs x = trial_.input(Dtype::f32);
    const std::vector<double> y =
        trial_.call(*module, x).to_vector<double>();  // no tape: dropout would throw
    if (trial_.call(*module, x).to_vector<double>() != y)
      return outcome(false, "two calls in evaluation differ");
    if (state() != before) return outcome(false, "a call in evaluation changes the state");
    return outcome(true, trial_.random() ? "training draws from the tape's rng, evaluation does not"
                         : trial_.same_in_evaluation() ? "no difference"
                                                       : "evaluation computes something else than training");
  }

  LayerCheck batch(int64_t size) {
    const auto module = trial_.moved();
    const LayerTrial::Inputs x = trial_.rows(size);
    try {
      trial_.output(*module, x);
    } catch (const Error& error) {
      return outcome(true, fmt::format("refused: {}", error.what()));
    }
    const LayerStep step = trial_.step(*module, x);
    const Tensor whole = trial_.output(*trial_.moved(), trial_.input());
    const bool keeps_batch = whole.ndim() > 0 && whole.size(0) == trial_.input()[0].size(0);
    const bool finite = step.y_finite() && step.gradients_finite();
    if (!keeps_batch && size == 0 && !finite)
      return {"", Outcome::skipped,
              fmt::format("y {} does not keep the batch, and is NaN without one", whole.shape())};
    if (!finite)
      return outcome(false, fmt::format("NaN or infinity in {} for x {}",
                                        step.y_finite() ? "a gradient" : "y", x[0].shape()));
    const Shape wanted = keeps_batch ? whole.shape().with(0, size) : step.y.shape();
    const bool right = step.y.shape() == wanted;
    return outcome(right, right ? fmt::format("y {}", wanted)
                                : fmt::format("y must be {}, got {}", wanted, step.y.shape()));
  }

  LayerCheck strided() {
    const double apart = trial_.step(*trial_.moved(), trial_.input())
                             .distance(trial_.step(*trial_.moved(), trial_.spread_input()));
    return outcome(apart <= 1e-12, apart <= 1e-12
                                       ? "the same to 1e-12"
                                       : fmt::format("values or gradients differ by {:.1g}", apart));
  }

  LayerCheck thread_counts() {
    const auto module = trial_.moved(Dtype::f32);
    const LayerTrial::Inputs x = trial_.enlarged(options_.large);
    std::vector<std::vector<double>> results;
    for (const int count : {1, 2, 8}) {
      const WithThreads guard(count);
      results.push_back(trial_.step(*module, x).numbers());
    }
    const bool same = results[0] == results[1] && results[0] == results[2];
    return outcome(same, fmt::format("{} bits for x {}", same ? "the same" : "other", x[0].shape()));
  }

  LayerCheck narrow() {
    const auto single = trial_.moved(Dtype::f32), wide = trial_.moved(Dtype::f32);
    convert(*wide, Dtype::f64);
    const LayerTrial::Inputs x = trial_.input(Dtype::f32);
    LayerTrial::Inputs widened = x;
    for (Tensor& one : widened)
      if (is_float(one.dtype())) one = cast(one, Dtype::f64);
    const double apart = trial_.step(*single, x).distance(trial_.step(*wide, widened));
    const bool near = apart <= options_.f32_tolerance;
    return outcome(
        near, near ? fmt::format("within {:.0e}", options_.f32_tolerance)
                   : fmt::format("relative distance {:.1g}, allowed {:.0e}", apart, options_.f32_tolerance));
  }

  LayerCheck signal() {
    const LayerSignal found = trial_.signal();
    report_.std_ratio = found.std_ratio;
    report_.gradient_ratio = found.gradient_ratio;
    if (std::isnan(found.std_ratio)) return {"", Outcome::skipped, "x holds indices"};
    return outcome(std::isfinite(found.std_ratio) && std::isfinite(found.gradient_ratio),
                   fmt::format("multiplies the std by {:.3g} at init, the gradient's rms by {:.3g}",
                               found.std_ratio, found.gradient_ratio));
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
