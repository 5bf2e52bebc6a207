#include "layer_checks.h"

#include <limits>

#include "../../core/parallel.h"
#include "../../core/raw.h"
#include "../../core/rng.h"
#include "../model.h"

namespace isobar {
namespace {

using Inputs = LayerTrial::Inputs;

// Passed where nothing differs; else failed with what differs, and what may be the reason.
LayerCheck same(const std::string& differs, std::string success, std::string_view hint) {
  return differs.empty() ? passed(std::move(success)) : failed(fmt::format("{}; {}", differs, hint));
}

}  // namespace

std::string thrown(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const std::exception& error) {
    return fmt::format("threw: {}", error.what());
  } catch (...) {
    return "threw something that is no std::exception";
  }
}

LayerCheck repeated(const LayerTrial& trial) {
  const auto module = trial.moved(Dtype::f32);
  const Inputs x = trial.input(Dtype::f32);
  const Tensor first = trial.output(*module, x), second = trial.output(*module, x);
  const std::string differs = difference({{"y", second}}, {{"y", first}});
  if (differs.empty()) return passed("the same bits");
  return failed(fmt::format(
      "a second call with the same input and key gives other bits: {}; does forward keep state, or draw "
      "numbers other than from Tape::next_rng()?",
      differs));
}

// A layer that has seen the example, and whose parameters have moved since, against a fresh one with the same
// state: only what fields() lists may outlive a call.
LayerCheck another_call(const LayerTrial& trial) {
  for (const bool training : {true, false}) {
    if (!training && trial.same_in_evaluation()) break;
    const auto used = trial.moved(Dtype::f64, training);
    trial.step(*used, trial.input());
    for (NamedTensor& one : named_parameters(*used))
      assign(one.tensor, affine(one.tensor.detach(), 0.9, 0.05));
    for (const int64_t rows : {trial.batch(), trial.batch() + 1}) {
      const Inputs x = trial.other_rows(rows);
      const auto fresh = trial.moved(Dtype::f64, training);
      copy_state(*used, *fresh);
      LayerStep wanted, got;
      if (!thrown([&] { wanted = trial.step(*fresh, x); }).empty()) continue;  // the layer refuses this x
      std::string differs = thrown([&] { got = trial.step(*used, x); });
      if (differs.empty()) differs = difference(got.values, wanted.values, 1e-12);
      if (!differs.empty())
        return failed(fmt::format(
            "after a call, another x {} gives not what a fresh layer gives: {}; does forward keep "
            "something of its first call that fields() does not list?",
            x[0].shape(), differs));
    }
  }
  return passed("another x and batch give what they give to a fresh layer");
}

LayerCheck save_and_load(const LayerTrial& trial) {
  const auto original = trial.moved(Dtype::f32), fresh = trial.moved(Dtype::f32);
  trial.step(*original, trial.input(Dtype::f32));  // updates running statistics, if there are any
  for (NamedTensor& one : named_state(*fresh))
    if (is_float(one.tensor.dtype())) assign(one.tensor, full(one.tensor.shape(), 0.5, one.tensor.dtype()));
  load_state(*fresh, named_state(*original));
  eval(*original);
  eval(*fresh);
  const Inputs x = trial.input(Dtype::f32);
  const LayerStep got = trial.step(*fresh, x);
  return same(
      difference(got.values, trial.step(*original, x).values),
      "loaded by name into a second one, which then computes the same",
      "a second layer that loads the state by name computes something else; does forward use something that "
      "fields() does not list?");
}

LayerCheck train_and_eval(const LayerTrial& trial) {
  const auto module = trial.moved(Dtype::f32, false);
  for (const NamedModule& part : named_modules(*module))
    if (part.module->training()) return failed(fmt::format("eval() does not reach {}", part.path));
  std::vector<NamedTensor> before = named_state(*module);
  for (NamedTensor& one : before) one.tensor = clone(one.tensor.detach());
  const Inputs x = trial.input(Dtype::f32);
  const Tensor y = trial.call(*module, x), again = trial.call(*module, x);  // no tape: dropout would throw
  if (const std::string differs = difference({{"y", again}}, {{"y", y}}); !differs.empty())
    return failed("two calls in evaluation differ: " + differs);
  if (const std::string differs = difference(named_state(*module), before); !differs.empty())
    return failed("a call in evaluation changes the state: " + differs);
  return passed(trial.random()               ? "training draws from the tape's rng, evaluation does not"
                : trial.same_in_evaluation() ? "no difference"
                                             : "evaluation computes something else than training");
}

LayerCheck recomputed(const LayerTrial& trial) {
  const auto plain = trial.moved(Dtype::f32), again = trial.moved(Dtype::f32);
  const Inputs x = trial.input(Dtype::f32);
  return same(difference(trial.step(*again, x, {.recompute = true}).values, trial.step(*plain, x).values),
              "the same bits when forward is computed again in backward",
              "forward is computed again in backward; ask recomputing() before you move state");
}

LayerCheck strided(const LayerTrial& trial) {
  const Inputs x = trial.input();
  const auto step = [&](const Inputs& in, const Tensor& dy) {
    return trial.step(*trial.moved(), in, {.dy = dy}).values;
  };
  const auto plain = step(x, {});
  const Tensor dy = Rng(5).normal(plain[0].tensor.shape(), 0, 1, Dtype::f64);
  std::string differs = difference(step(trial.spread_input(), {}), plain, 1e-12);
  if (!differs.empty())
    return failed(differs +
                  ", for strided x; does forward or backward read data() without strides? Use contiguous(x)");
  for (const bool sum : {true, false}) {
    const Tensor strided = sum ? broadcast(dy) : transposed(dy);
    differs = difference(step(x, strided), step(x, raw::contiguous(strided)), 1e-12);
    if (!differs.empty())
      return failed(
          fmt::format("{}, for dy {}; does backward read dy.data() without strides? Use contiguous(dy)",
                      differs, sum ? "of stride 0, as sum(y) gives it" : "that is transposed"));
  }
  return passed("the same to 1e-12");
}

LayerCheck thread_counts(const LayerTrial& trial) {
  const Inputs x = trial.enlarged(trial.options().large);
  std::vector<NamedTensor> one;
  for (const int count : {1, 2, 8}) {
    const WithThreads guard(count);
    const std::vector<NamedTensor> values = trial.step(*trial.moved(Dtype::f32), x).values;
    if (count == 1) one = values;
    const std::string differs = difference(values, one);
    if (!differs.empty())
      return failed(fmt::format("{} on {} threads for x {}; does a sum depend on how threads share the work?",
                                differs, count, x[0].shape()));
  }
  return passed(fmt::format("the same bits for x {}", x[0].shape()));
}

LayerCheck narrow(const LayerTrial& trial) {
  const Inputs x = trial.input(Dtype::f32);
  // In f64: x and the parameters as f32 holds them, and x as one more rounding leaves it.
  const auto wide = [&](double rounding) {
    const auto module = trial.moved(Dtype::f32);
    convert(*module, Dtype::f64);
    Inputs in = x;
    for (Tensor& one : in)
      if (is_float(one.dtype()))
        one = cast(one, Dtype::f64) * Rng(6).normal(one.shape(), 1, rounding, Dtype::f64);
    return trial.step(*module, in).values;
  };
  const auto single = trial.step(*trial.moved(Dtype::f32), x).values;
  return same(
      difference(single, wide(0), trial.options().f32_tolerance, wide(std::numeric_limits<float>::epsilon())),
      fmt::format("within {:.0e}", trial.options().f32_tolerance),
      "is an f32 path of its own wrong, or does it sum without acc_t<T>?");
}

}  // namespace isobar
