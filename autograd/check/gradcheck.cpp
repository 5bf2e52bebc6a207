#include "gradcheck.h"

#include "../tape.h"
#include "diagnosis/differences.h"

namespace isobar {
namespace {

// All outputs of the differentiated function as plain numbers.
using EvaluateAll = std::function<Values(const std::vector<Tensor>&)>;

// Compares the analytic gradient by one input with differences of Σ weights · f, and keeps the worst.
void compare(GradcheckReport& report, int order, const EvaluateAll& f, const Values& weights,
             const std::vector<Tensor>& xs, size_t input, const Values& gradient,
             const GradcheckOptions& options, const Rng& rng) {
  const Evaluate of_input = [&](const Tensor& x) {
    std::vector<Tensor> moved = xs;
    moved[input] = x;
    return f(moved);
  };
  Values weighted = f(xs);
  for (size_t k = 0; k < weighted.size(); ++k) weighted[k] *= weights[k];
  const Directions directions(xs[input], options.element_limit, options.directions, rng.split("direction"));
  const double floor = directions.noise_floor(gradient, weighted);
  for (int64_t i = 0; i < directions.count(); ++i) {
    const double analytic = directions.along(i, gradient);
    const Stencil stencil(of_input, xs[input], directions[i], directions.step(i));
    const double numeric = stencil.slope_of_sum(weights);
    const double error = relative_error(analytic, numeric, floor);
    if (report.order != 0 && error <= report.max_relative_error) continue;
    report = {error, order, input, directions.sampled() ? -1 : i, analytic, numeric, {}};
  }
}

// Fresh leaves with the inputs' numbers and layout; integers as they are.
std::vector<Tensor> leaves_of(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> leaves;
  for (const Tensor& x : inputs) {
    leaves.push_back(x.detach());
    if (is_float(x.dtype())) leaves.back().set_trainable();
  }
  return leaves;
}

std::vector<Tensor> floats_of(const std::vector<Tensor>& inputs) {
  std::vector<Tensor> result;
  for (const Tensor& x : inputs)
    if (is_float(x.dtype())) result.push_back(x);
  return result;
}

// dF/dx for every float input by the tape; zeros where f does not depend on any.
std::vector<Tensor> first_gradients(Tape& tape, const TensorFunction& f, const std::vector<Tensor>& leaves,
                                    const Tensor& dy) {
  const Tensor y = f(leaves);
  const std::vector<Tensor> xs = floats_of(leaves);
  if (tape.needs_gradient(y)) return tape.gradient(y, xs, dy);
  std::vector<Tensor> none;
  for (const Tensor& x : xs) none.push_back(zeros(x.shape(), x.dtype()));
  return none;
}

void append(Values& all, const Tensor& x) {
  const Values values = x.to_vector<double>();
  all.insert(all.end(), values.begin(), values.end());
}

void add_to(Values& sum, const Tensor& x) {
  const Values values = x.to_vector<double>();
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

void check_first_order(GradcheckReport& report, const TensorFunction& f, const std::vector<Tensor>& inputs,
                       const Tensor& dy, const GradcheckOptions& options, const Rng& rng) {
  Tape tape({.again = true});
  const std::vector<Tensor> gradients = first_gradients(tape, f, leaves_of(inputs), dy);
  NoTape pause;
  const EvaluateAll values = [&](const std::vector<Tensor>& xs) { return f(xs).to_vector<double>(); };
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (is_float(inputs[i].dtype()))
      compare(report, 1, values, dy.to_vector<double>(), inputs, i, gradients[next++].to_vector<double>(),
              options, rng.split(i));
}

// The function differentiated here maps (inputs, dy) to all first gradients, joined; u weights them.
void check_second_order(GradcheckReport& report, const TensorFunction& f, const std::vector<Tensor>& inputs,
                        const Tensor& dy, const GradcheckOptions& options, const Rng& rng) {
  std::vector<Tensor> all = inputs;
  all.push_back(dy);
  const std::vector<Tensor> leaves = leaves_of(all);
  const std::vector<Tensor> arguments = floats_of(leaves);
  std::vector<Values> analytic;
  for (const Tensor& x : arguments) analytic.emplace_back(x.numel(), 0.0);
  Values weights;
  {
    Tape tape({.higher_order = true, .again = true});
    const std::vector<Tensor> inner(leaves.begin(), leaves.end() - 1);
    const std::vector<Tensor> gradients = first_gradients(tape, f, inner, leaves.back());
    for (size_t k = 0; k < gradients.size(); ++k) {
      const Tensor u = rng.split("u").split(k).normal(gradients[k].shape(), 0, 1, Dtype::f64);
      append(weights, u);
      if (!tape.needs_gradient(gradients[k])) continue;
      const std::vector<Tensor> second = tape.gradient(gradients[k], arguments, u);
      for (size_t j = 0; j < arguments.size(); ++j) add_to(analytic[j], second[j]);
    }
  }
  const EvaluateAll joined_gradients = [&](const std::vector<Tensor>& xs) {
    Tape tape({.again = true});
    const std::vector<Tensor> inner(xs.begin(), xs.end() - 1);
    Values joined;
    for (const Tensor& dx : first_gradients(tape, f, leaves_of(inner), xs.back())) append(joined, dx);
    return joined;
  };
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i)
    if (is_float(all[i].dtype()))
      compare(report, 2, joined_gradients, weights, all, i, analytic[next++], options, rng.split(i));
}

std::string describe(const GradcheckReport& report, const std::vector<Tensor>& inputs) {
  if (report.order == 0) return "gradcheck: nothing to compare, all inputs are empty";
  const std::string name = report.input < inputs.size()
                               ? fmt::format("input {} {}", report.input, inputs[report.input].shape())
                               : "dy";
  const std::string place =
      report.element >= 0 ? fmt::format("element {}", report.element) : std::string("a random direction");
  return fmt::format("gradcheck: order {}, {}, {}: tape {:.12g}, differences {:.12g}, relative error {:.2g}",
                     report.order, name, place, report.analytic, report.numeric, report.max_relative_error);
}

}  // namespace

GradcheckReport gradcheck(const TensorFunction& f, const std::vector<Tensor>& inputs,
                          const GradcheckOptions& options) {
  check(options.order == 1 || options.order == 2, "gradcheck: order must be 1 or 2, got {}", options.order);
  for (size_t i = 0; i < inputs.size(); ++i)
    check(!is_float(inputs[i].dtype()) || inputs[i].dtype() == Dtype::f64,
          "gradcheck: input {} must be f64 (differences of f32 numbers are too coarse), got f32; use "
          "cast(x, Dtype::f64)",
          i);
  check(!floats_of(inputs).empty(), "gradcheck: none of the {} inputs is f64", inputs.size());

  const Rng rng(options.seed);
  Tensor y;
  {
    NoTape pause;
    y = f(inputs);
  }
  const Tensor dy = rng.split("dy").normal(y.shape(), 0, 1, y.dtype());
  GradcheckReport report;
  check_first_order(report, f, inputs, dy, options, rng.split("first"));
  if (options.order == 2) check_second_order(report, f, inputs, dy, options, rng.split("second"));
  report.text = describe(report, inputs);
  return report;
}

}  // namespace isobar
