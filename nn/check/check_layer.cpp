#include "check_layer.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../model.h"
#include "../observe.h"
#include "layer_runner.h"

namespace isobar {
namespace {

using Outcome = LayerCheck::Outcome;

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

// One layer under test. Every check makes its own instance of it.
class LayerChecker {
 public:
  LayerChecker(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options)
      : runner_(make, x, options), options_(options) {
    std::string type = "layer";
    thrown([&] { type = runner_.made()->type_name(); });  // fields() reports what it throws
    std::vector<std::string> shapes;
    for (const Tensor& one : x) shapes.push_back(one.shape().text());
    report_.layer = fmt::format("{} on x {}", type, listed(shapes));
    report_.std_ratio = report_.gradient_ratio = std::nan("");
  }

  LayerReport run() {
    check("fields", [&] { return fields(); });
    if (!check("forward", [&] { return forward(); })) {
      check("all else", [&] { return skipped("forward must run first"); });
      return report_;
    }
    const bool repeats = check("repeated calls", [&] { return repeated(runner_); });
    gradients_right_ = check("another call", [&] {
      if (!repeats) return skipped("not even repeated calls are bit-identical");
      runner_.compare_modes();
      thrown([&] { runner_.measure_growth(); });  // other checks report it
      return another_call(runner_);
    });
    gradients_right_ = gradients_right_ && repeats;
    check("inputs untouched", [&] { return untouched(); });
    if (options_.causal) check("causal", [&] { return causal(runner_); });
    if (options_.mask) check("mask", [&] { return masked(runner_); });
    // Differences want a function of x and the parameters alone.
    if (gradients_right_)
      gradients();
    else
      check("gradients", [&] { return skipped("forward is no function of x and the parameters alone"); });
    gradients_right_ = gradients_right_ && report_.diagnosis.cause == Cause::none;
    check("used twice", [&] { return uses(); });
    check("save and load", [&] { return save_and_load(runner_); });
    check("train and eval", [&] { return train_and_eval(); });
    check("composed form",
          [&] { return gradients_right_ ? composed(runner_) : skipped("gradients are wrong or unchecked"); });
    for (int64_t size : {0, 1})
      check(fmt::format("batch of {}", size), [&] { return options_.batch ? batch(size) : no_batch; });
    check("large batch", [&] { return large(); });
    check("strided input", [&] { return strided(runner_); });
    check("1, 2, 8 threads", [&] { return with_rows_of_its_own([&] { return thread_counts(runner_); }); });
    check("each row alone", [&] { return options_.batch ? rows_alone(runner_) : no_batch; });
    check("f32 against f64", [&] { return narrow(runner_); });
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
      const Tensor y = runner_.output(*runner_.moved(dtype), runner_.input(dtype));
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
      if (!training && runner_.same_in_evaluation()) break;
      std::vector<Jacobian> all;
      const std::string error = thrown([&] { all = jacobians(training, mode); });
      if (!error.empty()) report_.checks.push_back({"gradients" + mode, Outcome::failed, error});
      choose_diagnosis(report_, all, options_.tolerance, mode);
    }
  }

  // Adds a check for each gradient.
  std::vector<Jacobian> jacobians(bool training, const std::string& mode) {
    const std::vector<Jacobian> all = runner_.jacobians(runner_.input(), training);
    for (const Jacobian& j : all)
      if (j.rounding != Rounding::none) runner_.set_in_f32();
    const Inputs x = runner_.input();
    const auto inputs =
        std::count_if(x.begin(), x.end(), [](const Tensor& one) { return is_float(one.dtype()); });
    bool expected = !training || options_.expected == nullptr;  // evaluation may be plain
    const std::vector<Diagnosis> found = diagnose(all, options_.tolerance);
    for (size_t i = 0; i < all.size(); ++i) {
      const Jacobian& j = all[i];
      const bool parameter = static_cast<std::ptrdiff_t>(i) >= inputs;
      LayerCheck result = gradient_check(j, found[i], options_.tolerance, mode);
      const bool right = j.right(options_.tolerance);
      expected |= j.as_expected;
      if (right && j.as_expected)
        result.text = "as expected: not the slope of y, but that of options.expected; " + result.text;
      if (right && !j.on_tape && parameter && unused(j.name))
        result = {result.name, Outcome::failed,
                  "forward uses it neither in training nor in evaluation; use it, or remove it"};
      report_.checks.push_back(result);
    }
    isobar::check(expected, "options.expected: all gradients are the slopes of y itself; leave it out");
    return all;
  }

  // Whether no forward uses this parameter: in training or evaluation, on the example or on normal numbers.
  bool unused(const std::string& parameter) {
    for (const bool training : {true, false})
      for (const Inputs& x : {runner_.input(), runner_.normal_input()}) {
        const std::vector<std::string> used = runner_.step({.x = x, .training = training}).used;
        if (std::find(used.begin(), used.end(), parameter) != used.end()) return false;
      }
    return true;
  }

  LayerCheck untouched() {
    const auto module = runner_.moved();
    const Inputs x = runner_.input();
    std::vector<NamedTensor> watched = named_parameters(*module), before;
    for (size_t i = 0; i < x.size(); ++i) watched.push_back({runner_.name_of_input(i), x[i]});
    for (const NamedTensor& one : watched) before.push_back({one.name, clone(one.tensor.detach())});
    StepResult step;
    const std::string error = thrown([&] { step = runner_.step(*module, {.x = x}); });
    if (!error.empty()) return skipped(error);  // gradients() reports it
    const std::string differs = difference(watched, before);
    if (!differs.empty()) return failed(differs + ", it was written to; ops return new tensors");
    if (!step.dy_kept)
      return failed("backward wrote to dy while others could see it; use room_for_gradient(dy)");
    return passed("neither x, a parameter nor dy was written to" +
                  (step.idle.empty()
                       ? ""
                       : "; y does not depend on the recorded " + step.idle + ": compute it under NoTape"));
  }

  LayerCheck uses() {
    const LayerCheck result = used_twice(runner_);
    if (result.outcome == Outcome::failed && report_.diagnosis.cause == Cause::none)
      report_.diagnosis = {Cause::overwritten, result.text};
    return result;
  }

  // Runs on the layer as made, in f32: convert() does not reach a tensor that fields() omits.
  LayerCheck fields() {
    const auto module = runner_.made();
    std::set<std::string> names;
    for (const NamedTensor& entry : named_state(*module)) names.insert(entry.name);
    StepResult step;
    // Later checks report what it throws.
    thrown([&] { step = runner_.step(*module, {.dtype = Dtype::f32}); });
    if (!step.unlisted.empty())
      return failed(
          fmt::format("forward uses a trainable tensor {} that fields() does not list: it is neither trained "
                      "nor saved",
                      step.unlisted[0]));
    std::vector<std::string> own, frozen;  // that are not trainable: those of a part may be frozen on purpose
    visit_tensors(*module, [&](const std::string& path, Tensor& tensor, bool is_buffer) {
      if (!is_buffer && !tensor.trainable())
        (path.find('.') == std::string::npos ? own : frozen).push_back(path);
    });
    if (!own.empty())
      return failed(fmt::format(
          "{} is listed as a parameter and is not trainable; list it with f.buffer, or make it with "
          "set_trainable()",
          own[0]));
    std::string forgotten;
    thrown([&] { forgotten = forgotten_buffer(runner_); });
    if (!forgotten.empty())
      return failed(
          "a forgotten buffer: forward changes a tensor that fields() does not list, so that it is neither saved nor "
          "loaded nor converted; list it: f.buffer(\"name\", name). After a call in training, against a fresh layer: " +
          forgotten);
    return passed((names.empty() ? "no state" : listed({names.begin(), names.end()})) +
                  (frozen.empty() ? "" : "; frozen: " + listed(frozen)));
  }

  LayerCheck train_and_eval() {
    const auto module = runner_.moved(Dtype::f32, false);
    for (const NamedModule& part : named_modules(*module))
      if (part.module->training()) return failed(fmt::format("eval() does not reach {}", part.path));
    std::vector<NamedTensor> before = named_state(*module);
    for (NamedTensor& one : before) one.tensor = clone(one.tensor.detach());
    const Inputs x = runner_.input(Dtype::f32);
    const Tensor y = runner_.call(*module, x),
                 again = runner_.call(*module, x);  // no tape: dropout would throw
    if (const std::string differs = difference({{"y", again}}, {{"y", y}}); !differs.empty())
      return failed("two calls in evaluation differ: " + differs);
    if (const std::string differs = difference(named_state(*module), before); !differs.empty())
      return failed("a call in evaluation changes the state: " + differs);
    if (runner_.random()) return passed("training draws from the tape's rng, evaluation does not");
    if (runner_.same_in_evaluation()) return passed("no difference");
    const auto trained = [](const NamedTensor& one) { return one.tensor.trainable(); };
    const std::vector<NamedTensor> state = named_state(*module);
    if (!std::all_of(state.begin(), state.end(), trained))
      return passed("evaluation computes something else than training");
    if (runner_.dropped() > 0)
      return failed(fmt::format(
          "in training y is evaluation's times 0 or {:.3g}, with the same zeros in every step; draw the mask with "
          "Tape::next_rng()",
          runner_.dropped()));
    return passed(
        "training differs from evaluation, has no buffer and draws nothing; is a mask the same in every step?");
  }

  LayerCheck batch(int64_t size) {
    const Inputs x = runner_.rows(size);
    try {
      runner_.output(*runner_.moved(), x);
    } catch (const Error& error) {
      return passed(fmt::format("refused: {}", error.what()));
    }
    const std::vector<NamedTensor> values = runner_.step({.x = x}).values;
    const Shape whole = runner_.output(*runner_.moved(), runner_.input()).shape(),
                got = values[0].tensor.shape();
    bool keeps_batch = whole.ndim() > 0 && whole[0] == runner_.batch();
    if (keeps_batch)  // by its extent; that of one row more tells it from a dimension that happens to have it
      thrown([&] {
        const int64_t more = runner_.batch() + 1;
        keeps_batch = runner_.output(*runner_.moved(), runner_.rows(more)).shape()[0] == more;
      });
    if (!keeps_batch && size == 0 && !not_finite({values[0]}).empty())
      return skipped(fmt::format("y {} does not keep the batch, and is NaN without one", whole));
    if (const std::string wrong = not_finite(values); !wrong.empty())
      return failed(fmt::format("{}, for x {}", wrong, x[0].shape()));
    const Shape wanted = keeps_batch ? whole.with(0, size) : got;
    if (got != wanted) return failed(fmt::format("y must be {}, got {}; {}", wanted, got, give_no_batch));
    const std::string wrong = size > 0 && gradients_right_ ? runner_.wrong_gradient(x) : "";
    return wrong.empty() ? passed(fmt::format("y {}", wanted)) : failed(wrong);
  }

  LayerCheck large() {
    if (!gradients_right_) return skipped("gradients are wrong or unchecked");
    return options_.batch ? with_rows_of_its_own([&] { return large_batch(runner_); }) : no_batch;
  }

  // A check with other numbers of rows than the example's, which the layer may refuse.
  template <class Body>
  LayerCheck with_rows_of_its_own(const Body& body) const {
    LayerCheck result;
    const std::string error = thrown([&] { result = body(); });
    if (error.empty()) return result;
    return failed(options_.batch ? fmt::format("{}; {}", error, give_no_batch) : error);
  }

  LayerCheck signal() {
    if (!is_float(runner_.input()[0].dtype())) return skipped("x holds indices");
    const auto module = runner_.made();
    convert(*module, Dtype::f64);
    const Inputs x = runner_.normal_input();
    const std::vector<NamedTensor> values = runner_.step(*module, {.x = x}).values;
    const Tensor& y = values[0].tensor;
    if (y.numel() == 1) return skipped("y is a single number");
    report_.std_ratio = moments_of(y).std / moments_of(x[0]).std;
    report_.gradient_ratio = moments_of(values[1].tensor).rms / moments_of(upstream(y)).rms;
    const std::string text = fmt::format("multiplies the std by {:.3g} at init, the gradient's rms by {:.3g}",
                                         report_.std_ratio, report_.gradient_ratio);
    const bool finite = std::isfinite(report_.std_ratio) && std::isfinite(report_.gradient_ratio);
    return finite ? passed(text)
                  : skipped(text + ", for normal numbers; is the layer undefined for some of them?");
  }

  static constexpr const char* give_no_batch =
      "is dimension 0 of x no batch? Then give options.batch = false";
  const LayerCheck no_batch = skipped("options.batch is false");

  LayerRunner runner_;
  const CheckLayerOptions options_;
  LayerReport report_;
  bool gradients_right_ = false;  // the gradients were checked, and are right
};

}  // namespace

LayerReport check_layer(const LayerMaker& make, const LayerInputs& x, const CheckLayerOptions& options) {
  check(!x.empty(), "check_layer: wanted at least one example input");
  check(x.size() == 1 || options.call != nullptr,
        "check_layer: {} inputs want options.call, which says how the layer takes them", x.size());
  for (const Tensor& one : x) check(one.defined(), "check_layer: an example input is undefined");
  check(
      !options.batch || (x[0].ndim() >= 1 && x[0].size(0) >= 2),
      "check_layer: wanted an example x with a batch of at least 2 as its first dimension, got {}; for a layer "
      "without a batch, options.batch = false",
      x[0].shape());
  return LayerChecker(make, x, options).run();
}

}  // namespace isobar
