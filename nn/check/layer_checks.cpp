#include "layer_runner.h"

#include <limits>
#include <set>

#include "../../core/memory.h"
#include "../../core/parallel.h"
#include "../../core/rng.h"
#include "../model.h"

namespace isobar {
namespace {

// Passed where nothing differs; else failed with what differs, and what may be the reason.
LayerCheck same(const std::string& differs, std::string success, std::string_view reason) {
  return differs.empty() ? passed(std::move(success)) : failed(fmt::format("{}; {}", differs, reason));
}

// Whether the layer as made has memory of tensors that clones of its listed ones do not need.
bool has_unlisted_tensors(const LayerRunner& runner) {
  const auto in_use = [] { return memory::stats().bytes_in_use; };
  const size_t before = in_use();
  const auto module = runner.made();
  const size_t made = in_use();
  std::vector<Tensor> clones;
  for (const NamedTensor& entry : named_state(*module)) clones.push_back(clone(entry.tensor));
  return made - before > in_use() - made;
}

// y and the gradients of a step. State that is not trained may move.
std::vector<NamedTensor> gradients_of(const LayerRunner& runner, Module& module) {
  std::vector<NamedTensor> values = runner.step(module, {.dtype = Dtype::f32}).values;
  const std::vector<NamedTensor> state = named_state(module);
  const auto buffers =
      std::ranges::count_if(state, [](const NamedTensor& of) { return !of.tensor.trainable(); });
  values.erase(values.end() - buffers, values.end());
  return values;
}

}  // namespace

std::string thrown(const std::function<void()>& body) {
  try {
    body();
    return "";
  } catch (const std::bad_alloc&) {
    return "threw: there is not enough memory (std::bad_alloc); does a broadcast of (N) with (N, 1) make (N, N)?";
  } catch (const std::exception& error) {
    return fmt::format("threw: {}", error.what());
  } catch (...) {
    return "threw something that is no std::exception";
  }
}

std::string forgotten_buffer(const LayerRunner& runner) {
  if (!has_unlisted_tensors(runner)) return "";
  const auto used = runner.made(), fresh = runner.made(), other = runner.made();
  Inputs first = runner.other_rows(runner.batch());
  for (Tensor& one : first)
    if (is_float(one.dtype())) one = cast(one, Dtype::f32);
  runner.output(*used, first);
  copy_state(*fresh, *used);
  const Inputs x = runner.input(Dtype::f32);
  for (const bool training : {false, true}) {  // a call in training changes the fresh ones, too
    for (Module* module : {used.get(), fresh.get(), other.get()}) training ? train(*module) : eval(*module);
    const Tensor wanted = runner.output(*fresh, x);
    if (!difference({{"y", runner.output(*other, x)}}, {{"y", wanted}}).empty()) return "";  // draws numbers
    const std::string differs = difference({{"y", runner.output(*used, x)}}, {{"y", wanted}});
    if (!differs.empty()) return differs;
  }
  return "";
}

LayerCheck repeated(const LayerRunner& runner) {
  const auto module = runner.moved(Dtype::f32);
  const Inputs x = runner.input(Dtype::f32);
  const Tensor first = runner.output(*module, x), second = runner.output(*module, x);
  std::string differs = difference({{"y", second}}, {{"y", first}});
  if (differs.empty())
    thrown([&] {  // the checks of the gradients report it
      differs = difference(gradients_of(runner, *module), gradients_of(runner, *module));
    });
  return same(
      differs, "bit-identical",
      "a second call with the same input and key gives other bits: does forward keep state, or draw numbers "
      "other than from Tape::next_rng()? (options.stateful is for state that fields() lists)");
}

// A layer that has seen the example, and whose parameters have moved since, against a fresh one with the same
// state: only what fields() lists may outlive a call.
LayerCheck another_call(const LayerRunner& runner) {
  for (const bool training : {true, false}) {
    if (!training && runner.same_in_evaluation()) break;
    const auto used = runner.moved(Dtype::f64, training);
    if (const std::string error = thrown([&] { runner.step(*used, {}); }); !error.empty())
      return skipped(error);  // the checks of the gradients report it
    for (NamedTensor& one : named_parameters(*used))
      assign(one.tensor, affine(one.tensor.detach(), 0.9, 0.05));
    for (const int64_t rows : {runner.batch(), runner.batch() + runner.options().batch}) {
      const StepSetup run{.x = runner.other_rows(rows)};
      const auto fresh = runner.moved(Dtype::f64, training);
      copy_state(*used, *fresh);
      StepResult wanted, got;
      if (!thrown([&] { wanted = runner.step(*fresh, run); }).empty()) continue;  // the layer refuses this x
      std::string differs = thrown([&] { got = runner.step(*used, run); });
      if (differs.empty()) differs = difference(got.values, wanted.values, 1e-12);
      if (differs.empty()) continue;
      return failed(
          fmt::format("{}, for another x {} after a first call, against a fresh layer; does forward keep "
                      "something that fields() does not list? List a tensor that it changes with f.buffer()",
                      differs, run.x[0].shape()));
    }
  }
  return passed("another x and batch give what they give to a fresh layer");
}

namespace {

// Which positions (row, time) are meant.
using Positions = std::function<bool(int64_t row, int64_t time)>;

// x with the numbers of `other` at these positions of its first two dimensions.
Tensor replaced(const Tensor& x, const Tensor& other, const Positions& at) {
  std::vector<double> values = x.to_vector<double>();
  const std::vector<double> others = other.to_vector<double>();
  const int64_t times = x.size(1), width = x.numel() / std::max<int64_t>(1, x.size(0) * times);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t position = static_cast<int64_t>(i) / width;
    if (at(position / times, position % times)) values[i] = others[i];
  }
  return cast(tensor(x.shape(), values), x.dtype());
}

// Throws Error where another row has the same numbers at all positions `hidden` of input `i`: nothing is tried then.
void check_hides(const LayerRunner& runner, const char* option, size_t i, const Positions& hidden) {
  const Tensor x = runner.input()[i], other = replaced(x, runner.other_rows(runner.batch())[i], hidden);
  check(
      other.to_vector<double>() != x.to_vector<double>(),
      "{}: wanted an example in which input {} {} has hidden numbers that differ from row to row, got none; give "
      "two rows that differ",
      option, i, x.shape());
}

// "" where y at the positions `seen`, or all of a y without times, is the same whatever input `i` holds at the
// positions `hidden`.
std::string dependence(const LayerRunner& runner, size_t i, const Positions& hidden, const Positions& seen) {
  const Inputs x = runner.input();
  Inputs other = x;
  other[i] = replaced(x[i], runner.other_rows(runner.batch())[i], hidden);
  const Tensor y = runner.output(*runner.moved(), x), moved = runner.output(*runner.moved(), other);
  const bool timed = y.ndim() >= 2 && y.size(0) == x[0].size(0) && y.size(1) == x[0].size(1);
  check(timed || !runner.options().causal, "wanted y with the batch and the times of x {}, got {}",
        x[0].shape(), y.shape());
  return difference({{"y", timed ? replaced(y, moved, seen) : moved}}, {{"y", y}}, 1e-12);
}

}  // namespace

LayerCheck causal(const LayerRunner& runner) {
  const Tensor x = runner.input()[0];
  check(x.ndim() >= 2 && x.size(1) > 1,
        "options.causal: wanted an example x (B, T, …) with two times or more, got {}", x.shape());
  check_hides(runner, "options.causal", 0, [](int64_t, int64_t time) { return time >= 1; });
  for (int64_t t = 1; t < x.size(1); ++t) {
    const std::string differs = dependence(
        runner, 0, [&](int64_t, int64_t time) { return time >= t; },
        [&](int64_t, int64_t time) { return time < t; });
    if (!differs.empty())
      return failed(
          fmt::format("{}, for another x from time {} on; does y see one position too many?", differs, t));
  }
  return passed(fmt::format("y before t does not depend on x from t on, along dimension 1, for each t of {}",
                            x.size(1)));
}

LayerCheck masked(const LayerRunner& runner) {
  const Inputs x = runner.input();
  const size_t of_mask = (*runner.options().mask)[0], i = (*runner.options().mask)[1];
  const bool given = of_mask < x.size() && i < x.size() && x[of_mask].ndim() == 2 && x[i].ndim() >= 2;
  check(
      given && x[of_mask].size(0) == x[i].size(0) && x[of_mask].size(1) == x[i].size(1),
      "options.mask: wanted the numbers of an input (B, T) and of the one, (B, T, …), that it masks, got {{{}, "
      "{}}} of {} inputs, {} and {}",
      of_mask, i, x.size(), of_mask < x.size() ? x[of_mask].shape() : Shape(),
      i < x.size() ? x[i].shape() : Shape());
  const std::vector<double> counts = x[of_mask].to_vector<double>();
  const auto seen = [&](int64_t row, int64_t time) {
    return counts[static_cast<size_t>(row * x[of_mask].size(1) + time)] != 0;
  };
  const auto hidden = [&](int64_t row, int64_t time) { return !seen(row, time); };
  check_hides(runner, "options.mask", i, hidden);
  const std::string differs =
      dependence(runner, i, hidden, [&](int64_t row, int64_t time) { return i > 0 || seen(row, time); });
  return same(
      differs, "what is masked does not matter to what counts",
      "this is for another input where the mask hides it; is the mask used before every sum over time?");
}

LayerCheck used_twice(const LayerRunner& runner) {
  const auto module = runner.moved(Dtype::f64, false);  // in training, two calls draw different masks
  const Inputs x = runner.other_rows(runner.batch());
  const StepResult a = runner.step(*module, {}), b = runner.step(*module, {.x = x}),
                   both = runner.step(*module, {.second = x});
  for (const NamedTensor& parameter : named_parameters(*module)) {
    size_t t = 1;
    while (a.values[t].name != "gradient of " + parameter.name) ++t;
    const NamedTensor sum{a.values[t].name, a.values[t].tensor + b.values[t].tensor};
    const std::string differs = difference({both.values[t]}, {sum}, 1e-12);
    if (!differs.empty())
      return failed(
          fmt::format("{}: overwritten instead of accumulated: after two calls on one tape, {}; does forward "
                      "keep something in the layer that the next call overwrites, or backward set grad() "
                      "itself?",
                      parameter.name, differs));
  }
  return passed("the gradients of two uses add up");
}

LayerCheck save_and_load(const LayerRunner& runner) {
  const auto original = runner.moved(Dtype::f32), fresh = runner.moved(Dtype::f32);
  const StepSetup run{.dtype = Dtype::f32};
  runner.step(*original, run);  // updates running statistics, if there are any
  for (NamedTensor& one : named_state(*fresh))
    if (is_float(one.tensor.dtype())) assign(one.tensor, full(one.tensor.shape(), 0.5, one.tensor.dtype()));
  load_state(*fresh, named_state(*original));
  eval(*original);
  eval(*fresh);
  const StepResult got = runner.step(*fresh, run), wanted = runner.step(*original, run);
  return same(
      difference(got.values, wanted.values), "loaded by name into a second one, which then computes the same",
      "a second layer that has loaded the state by name computes something else; does forward use something that "
      "fields() does not list? List a tensor that it changes with f.buffer()");
}

LayerCheck composed(const LayerRunner& runner) {
  if (runner.options().expected != nullptr) return skipped("options.expected is given");
  std::string differs, none;
  const std::string error = thrown([&] {
    const StepResult plain = runner.step({.training = !runner.random()}),
                     higher = runner.step({.training = !runner.random(), .higher_order = true});
    if (plain.on_tape && !higher.on_tape)
      none = "forward records nothing";
    else if (differs = difference(higher.values, plain.values,
                                  runner.in_f32() ? runner.options().f32_tolerance : 1e-9);
             differs.empty() && !runner.in_f32())
      none = runner.wrong_second_derivative();
  });
  if (!none.empty() && !runner.smooth(runner.input()))
    return skipped("second derivatives: not compared near a kink");
  if (!error.empty() || !none.empty())
    return skipped(
        fmt::format("second derivatives: none (a fused op without composed form; add: if (composed_wanted()) "
                    "return the formula in ops): {}{}",
                    error, none));
  return same(
      differs,
      runner.in_f32()
          ? "the same values and gradients; second derivatives: not compared, forward rounds to f32"
          : "the same values and gradients; second derivatives agree with differences",
      "this is on a tape for second derivatives; is the form under composed_wanted() the same formula?");
}

// A prime number of rows beyond 1024: kernels cut them into chunks, and every loop over 2, 4, 8, … rows has a
// tail.
LayerCheck large_batch(const LayerRunner& runner) {
  const int64_t rows = runner.affordable(1031);
  const StepSetup run{.training = !runner.random()};
  std::string wrong = runner.wrong_gradient(runner.rows(rows));
  if (wrong.empty()) return passed(fmt::format("gradients of {} rows agree with differences", rows));
  // The rows repeat the example, so that what has a row for each of x says which row is wrong.
  const std::vector<NamedTensor> small = runner.step(run).values;
  const Shape& shape = small[0].tensor.shape();
  if (shape.ndim() > 0 && shape[0] == runner.batch()) {
    StepSetup large = run;
    large.x = runner.rows(rows), large.dy = with_rows(upstream(small[0].tensor), rows);
    std::vector<NamedTensor> got = runner.step(large).values, wanted = small;
    for (size_t t = 0; t < got.size(); ++t)
      if (got[t].tensor.shape() == small[t].tensor.shape())
        got[t] = wanted[t];  // a parameter's
      else
        wanted[t].tensor = with_rows(small[t].tensor, rows);
    if (const std::string differs = difference(got, wanted, 1e-9); !differs.empty()) wrong = differs;
  }
  return failed(
      fmt::format("{}; this is for {} rows, which repeat the example; is the end of a large batch left out?",
                  wrong, rows));
}

LayerCheck strided(const LayerRunner& runner) {
  const std::vector<NamedTensor> plain = runner.step({}).values;
  const StepResult spread = runner.step({.x = runner.spread_input()});
  if (const std::string differs = difference(spread.values, plain, 1e-12); !differs.empty())
    return failed(differs +
                  ", for strided x; does forward or backward read data() without strides? Use contiguous(x)");
  for (const bool sum : {true, false}) {
    const Tensor dy = upstream(plain[0].tensor), strided = sum ? broadcast(dy) : transposed(dy);
    const StepResult got = runner.step({.dy = strided}), wanted = runner.step({.dy = contiguous(strided)});
    if (const std::string differs = difference(got.values, wanted.values, 1e-12); !differs.empty())
      return failed(
          fmt::format("{}, for dy {}; does backward read dy.data() without strides? Use contiguous(dy)",
                      differs, sum ? "of stride 0, as sum(y) gives it" : "that is transposed"));
  }
  return passed("the same to 1e-12");
}

LayerCheck thread_counts(const LayerRunner& runner) {
  const StepSetup run{.x = runner.rows(runner.rows_of(runner.options().large), Dtype::f32),
                      .dtype = Dtype::f32};
  std::string differs;
  std::vector<NamedTensor> one;
  for (const int count : {1, 2, 8}) {
    const WithThreads guard(count);
    const std::vector<NamedTensor> values = runner.step(run).values;
    if (count == 1) one = values;
    if (differs.empty()) differs = difference(values, one);
  }
  return same(
      differs, fmt::format("bit-identical for x {}", run.x[0].shape()),
      fmt::format("this is on several threads, for x {}; does a sum depend on how they share the work?",
                  run.x[0].shape()));
}

namespace {

// x with row `i` of `from`, of the inputs that have a batch.
Inputs with_row(const LayerRunner& runner, const Inputs& x, const Inputs& from, int64_t i) {
  const Inputs row = runner.row(from, i);
  Inputs result = from;
  for (size_t k = 0; k < x.size(); ++k)
    if (row[k].shape() != from[k].shape())
      result[k] = concat({slice(x[k], 0, 0, i), row[k], slice(x[k], 0, i + 1, x[k].size(0))}, 0);
  return result;
}

// Where the first row that differs does, alone against in the batch, and whether it does because of the numbers in the
// rows beside it.
struct RowDiffers {
  std::string text = {};  // "row 3 of 67: y [0, 2]: wanted 0.5, got 0.7"; "" where none does
  bool mixes = false;
};
RowDiffers row_that_differs(const LayerRunner& runner, bool training) {
  const int64_t rows = runner.affordable(67);  // a prime: every loop over 2, 4, 8, … rows has a tail
  const Inputs x = runner.rows(rows, Dtype::f32);
  Inputs others = runner.other_rows(rows);
  for (Tensor& one : others)
    if (is_float(one.dtype())) one = cast(one, Dtype::f32);
  const auto output = [&](const Inputs& of) {
    return runner.output(*runner.moved(Dtype::f32, training), of);
  };
  const auto row_of = [](const Tensor& y, int64_t i) { return slice(y, 0, i, i + 1); };
  const Tensor whole = output(x);
  check(whole.ndim() > 0 && whole.size(0) == rows, "y {} does not keep the batch of x {}", whole.shape(),
        x[0].shape());
  for (const int64_t i : std::set<int64_t>{0, 1, rows / 2, rows - 1}) {
    const Inputs alone = runner.row(x, i);
    const Tensor wanted = row_of(whole, i);
    const std::string differs = difference({{"y", output(alone)}}, {{"y", wanted}});
    if (!differs.empty()) {
      const Tensor beside_others = row_of(output(with_row(runner, others, x, i)), i);
      return {fmt::format("row {} of {}: {}", i, rows, differs),
              !difference({{"y", beside_others}}, {{"y", wanted}}).empty()};
    }
    if (!runner.options().causal || alone.size() > 1) continue;
    for (int64_t t = 1; t < alone[0].size(1); ++t) {
      const Tensor y = output({contiguous(slice(alone[0], 1, 0, t))});
      const std::string early = difference({{"y", y}}, {{"y", slice(wanted, 1, 0, t)}});
      if (!early.empty()) return {fmt::format("row {} of {}, its first {} times: {}", i, rows, t, early)};
    }
  }
  return {};
}

}  // namespace

LayerCheck rows_alone(const LayerRunner& runner) {
  std::string mixes;
  for (const bool training : {true, false}) {
    if (training && runner.random()) continue;  // each element has a mask of its own
    if (!training && runner.same_in_evaluation() && !runner.random()) break;
    const std::string mode = training ? "" : "in evaluation, ";
    RowDiffers row;
    const std::string refused = thrown([&] { row = row_that_differs(runner, training); });
    if (!refused.empty()) return skipped(refused);
    if (!row.text.empty() && !row.mixes)
      return failed(fmt::format(
          "{}{}; few rows are rounded in another way than many, so that training and decoding differ: "
          "does the end of a batch, or one row, take another path?",
          mode, row.text));
    if (row.text.empty() && !mixes.empty())
      return passed("the same numbers in evaluation; in training, " + mixes);
    if (row.mixes) mixes = fmt::format("{}y of a row depends on the rows beside it: {}", mode, row.text);
  }
  if (!mixes.empty()) return skipped(mixes);
  return passed(runner.options().causal ? "the same numbers, of its first times too" : "the same numbers");
}

LayerCheck narrow(const LayerRunner& runner) {
  const Inputs x = runner.input(Dtype::f32);
  // In f64: x and the parameters as f32 holds them, and x as one more rounding leaves it.
  const auto wide = [&](double rounding) {
    const auto module = runner.moved(Dtype::f32);
    convert(*module, Dtype::f64);
    StepSetup run{.x = x};
    for (Tensor& one : run.x)
      if (is_float(one.dtype()))
        one = cast(one, Dtype::f64) * Rng(6).normal(one.shape(), 1, rounding, Dtype::f64);
    return runner.step(*module, run).values;
  };
  const double tolerance = runner.options().f32_tolerance;
  const std::vector<NamedTensor> single = runner.step({.x = x, .dtype = Dtype::f32}).values, wanted = wide(0);
  return same(difference(single, wanted, tolerance, wide(std::numeric_limits<float>::epsilon())),
              fmt::format("within {:.0e}", tolerance),
              "this is in f32; has it a path of its own that is wrong, or a sum without acc_t<T>?");
}

}  // namespace isobar
