// A program's gradients against central differences of four points.
#include <algorithm>
#include <cmath>

#include "../../autograd/ops.h"
#include "../../autograd/tape.h"
#include "program.h"

namespace isobar::random_programs {

using Tensors = std::vector<Tensor>;

Tensors trainable_leaves(const Program& program) {
  Tensors leaves;
  for (size_t i = 0; i < program.leaves.size(); ++i)
    leaves.push_back(leaf_value(program, i).set_trainable(program.leaves[i].trainable));
  return leaves;
}

Tensors only_trainable(const Tensors& leaves) {
  Tensors result;
  for (const Tensor& x : leaves)
    if (x.trainable()) result.push_back(x);
  return result;
}

// The gradients that backward leaves on the leaves, zeros where it leaves none.
Tensors by_backward(const Tensors& leaves, const Run& run) {
  for (const Tensor& x : leaves) x.clear_grad();
  Tape tape({.again = true});
  const Tensors values = execute(leaves, run);
  Tensors losses;
  for (int value : run.program.losses) losses.push_back(loss_of(run.program, values, value));
  for (const Tensor& loss : losses)
    if (raw::slot(loss).tape == tape.serial()) tape.backward(loss);
  Tensors gradients;
  for (const Tensor& x : leaves)
    gradients.push_back(x.grad().defined() ? x.grad().detach() : zeros(x.shape(), x.dtype()));
  return gradients;
}

double dot(const Tensor& a, const Tensor& b) {
  const std::vector<double> p = a.to_vector<double>(), q = b.to_vector<double>();
  double sum = 0;
  for (size_t i = 0; i < p.size(); ++i) sum += p[i] * q[i];
  return sum;
}

// (8 (f(h) − f(−h)) − (f(2h) − f(−2h))) / 12h, with an error of h⁴ f⁽⁵⁾ / 30.
double slope(const std::function<double(double)>& f, double h) {
  return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
}

// What is wrong with a gradient, or "". Two widths that differ tell how sharp the difference is.
std::string compared(double gradient, const std::function<double(double)>& f, double tolerance) {
  ++sharpness().compared;
  for (const double h : {1e-3, 2e-4, 4e-5}) {
    const double wide = slope(f, 2 * h), numeric = slope(f, h), doubt = std::abs(wide - numeric);
    const double size = std::max({1.0, std::abs(numeric), std::abs(gradient)});
    if (doubt > 0.1 * tolerance * size) continue;
    if (std::abs(gradient - numeric) <= tolerance * size) return "";
    return fmt::format("gradient {:.10g}, difference {:.10g}", gradient, numeric);
  }
  ++sharpness().blunt;
  return "";
}

// Draws numbers of ±1, or the one element.
Tensor direction(const Tensor& like, const Rng& rng, int64_t element) {
  std::vector<double> values(like.numel());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = element >= 0 ? static_cast<int64_t>(i) == element : rng.bits(i) % 2 == 0 ? 1.0 : -1.0;
  return tensor(like.shape(), values);
}

class Check {
 public:
  explicit Check(const Program& program)
      : program_(program), leaves_(trainable_leaves(program)), rng_(Rng(program.seed).split("check")) {
    rounds_ = holds_op(program.code, op_named("rounded"));
  }

  std::string failure() {
    gradients_ = by_backward(leaves_, taped());
    std::string wrong;
    for (size_t i = 0; i < leaves_.size() && wrong.empty(); ++i)
      if (leaves_[i].trainable()) wrong = leaf(i);
    if (wrong.empty()) wrong = inner_value();
    if (wrong.empty()) wrong = frozen_and_thawed();
    if (wrong.empty() && program_.higher_order) wrong = second_order();
    return wrong;
  }

 private:
  Run taped() { return {program_, constants_}; }
  double tolerance() const { return rounds_ ? 1e-4 : 1e-6; }  // f32 rounds at 6e-8, steep parts multiply it

  double losses_at(const Tensors& leaves, Run run) {
    run.rounding = false;
    const Tensors values = execute(leaves, run);
    double sum = 0;
    for (int value : program_.losses) sum += loss_of(program_, values, value).item();
    return sum;
  }
  Tensors moved(size_t leaf, const Tensor& by) const {
    Tensors leaves;
    for (const Tensor& x : leaves_) leaves.push_back(x.detach());
    leaves[leaf] = (leaves[leaf] + by).set_trainable(leaves_[leaf].trainable());
    return leaves;
  }

  std::string leaf(size_t i) {
    const int64_t numel = leaves_[i].numel();
    const auto some = static_cast<int64_t>(rng_.below(static_cast<uint64_t>(numel), i));
    for (const int64_t element : {int64_t{-1}, some}) {
      const Tensor d = direction(leaves_[i], rng_.split(i), element);
      const std::string wrong = compared(
          dot(gradients_[i], d), [&](double t) { return losses_at(moved(i, d * t), taped()); }, tolerance());
      if (!wrong.empty())
        return fmt::format("leaf {} {}: {}", i,
                           element < 0 ? "direction" : fmt::format("element {}", element), wrong);
    }
    return "";
  }

  // gradient() to the leaves and to one value in the middle, on which the loss must depend.
  std::string inner_value() {
    if (program_.losses.size() != 1) return "";
    Run run = taped();
    Tape tape({.higher_order = program_.higher_order, .again = true});
    const Tensors values = execute(leaves_, run);
    const Tensor loss = loss_of(program_, values, program_.losses[0]);
    if (raw::slot(loss).tape != tape.serial()) return "";
    const std::vector<int> recorded = recorded_values(values, tape);
    if (recorded.empty()) return "";
    const int inner = recorded[rng_.below(recorded.size(), 100)];
    Tensors xs = only_trainable(leaves_);
    xs.push_back(values[inner]);
    const Tensors dx = tape.gradient(loss, xs);
    if (const std::string wrong = same_as_backward({dx.begin(), dx.end() - 1}, "gradient()"); !wrong.empty())
      return wrong;
    const NoTape pause;
    const Tensor d = direction(values[inner], rng_.split("inner"), -1);
    const auto f = [&](double t) {
      run.nudged = inner, run.nudge = d * t;
      return losses_at(leaves_, run);
    };
    const std::string wrong = compared(dot(dx.back(), d), f, tolerance());
    return wrong.empty() ? "" : fmt::format("value v{}: {}", inner, wrong);
  }

  // Some ops, such as contiguous, may return their argument: one tensor under two numbers cannot be nudged
  // under one of them.
  std::vector<int> recorded_values(const Tensors& values, const Tape& tape) const {
    std::map<const void*, int> uses;
    for (const Tensor& x : values)
      if (x.defined()) ++uses[x.id()];
    std::vector<int> recorded;
    for (const Instruction& instruction : program_.code) {
      const Tensor& x = values[instruction.value];
      if (raw::slot(x).tape == tape.serial() && uses[x.id()] == 1) recorded.push_back(instruction.value);
    }
    return recorded;
  }

  // Sums that run in another order round at 1e-16 each.
  std::string same_as_backward(const Tensors& gradients, const char* way, int without = -1) {
    size_t next = 0;
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (!program_.leaves[i].trainable) continue;
      const Tensor& got = gradients[next++];
      const std::vector<double> a = got.to_vector<double>(), b = gradients_[i].to_vector<double>();
      for (size_t j = 0; j < a.size(); ++j) {
        const double wanted = static_cast<int>(i) == without ? 0 : b[j];
        if (!(std::abs(a[j] - wanted) <= (rounds_ ? 1e-5 : 1e-11) * std::max(1.0, std::abs(wanted))))
          return fmt::format("leaf {} element {}: {} gives {:.10g}, backward {:.10g}", i, j, way, a[j],
                             wanted);
      }
    }
    return "";
  }

  Tensors of_trainable(const Tensors& gradients) const {
    Tensors result;
    for (size_t i = 0; i < leaves_.size(); ++i)
      if (program_.leaves[i].trainable) result.push_back(gradients[i]);
    return result;
  }

  // The same tensors again with one leaf frozen, and once more with all as they were.
  std::string frozen_and_thawed() {
    size_t frozen = rng_.below(leaves_.size(), 200);
    while (!program_.leaves[frozen].trainable) frozen = (frozen + 1) % leaves_.size();
    leaves_[frozen].set_trainable(false);
    const Tensors without = by_backward(leaves_, taped());
    leaves_[frozen].set_trainable(true);
    std::string wrong =
        same_as_backward(of_trainable(without), "with that leaf frozen, backward", static_cast<int>(frozen));
    if (wrong.empty())
      wrong = same_as_backward(of_trainable(by_backward(leaves_, taped())), "after thawing, backward");
    return wrong;
  }

  // The gradient of u · (dF/dx) on a higher-order tape, against differences of a plain tape's gradients.
  std::string second_order() {
    Run run = taped();
    run.rounding = false;
    const Tensors xs = only_trainable(leaves_);
    Tape tape({.higher_order = true, .again = true});
    const Tensors values = execute(leaves_, run);
    const Tensor loss = loss_of(program_, values, program_.losses[0]);
    if (raw::slot(loss).tape != tape.serial()) return "";
    const Tensors dx = tape.gradient(loss, xs);
    Tensor total = sum(xs[0] * 0.0);
    for (size_t k = 0; k < xs.size(); ++k) total = total + sum(dx[k] * weight(k));
    const Tensors second = tape.gradient(total, xs);
    const NoTape pause;
    for (size_t i = 0, k = 0; i < leaves_.size(); ++i) {
      if (!leaves_[i].trainable()) continue;
      const Tensor d = direction(leaves_[i], rng_.split("second"), -1);
      const auto f = [&](double t) { return weighted_gradients(moved(i, d * t), run); };
      const std::string wrong = compared(dot(second[k++], d), f, tolerance());
      if (!wrong.empty()) return fmt::format("second order, leaf {}: {}", i, wrong);
    }
    return "";
  }
  Tensor weight(size_t k) const {
    return Rng(program_.seed)
        .split("second")
        .split(k)
        .normal(only_trainable(leaves_)[k].shape(), 0, 1, Dtype::f64);
  }
  double weighted_gradients(Tensors leaves, const Run& run) const {
    for (size_t i = 0; i < leaves.size(); ++i)
      leaves[i] = leaves[i].detach().set_trainable(program_.leaves[i].trainable);
    const Tensors gradients = of_trainable(by_backward(leaves, run));
    double sum = 0;
    for (size_t k = 0; k < gradients.size(); ++k) sum += dot(gradients[k], weight(k));
    return sum;
  }

  const Program& program_;
  Tensors leaves_;
  Tensors gradients_;
  std::map<int, Tensor> constants_;
  const Rng rng_;
  bool rounds_ = false;
};

Sharpness& sharpness() {
  static Sharpness counts;
  return counts;
}

std::string failure_of(const Program& program) {
  if (program.losses.empty()) return "";
  try {
    return Check(program).failure();
  } catch (const Error& error) {
    return fmt::format("throws \"{}\"", error.what());
  }
}

}  // namespace isobar::random_programs
