#include "jacobian.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "../core/rng.h"
#include "diagnosis/differences.h"
#include "ops.h"
#include "tape.h"

namespace isobar {
namespace {

constexpr int random_directions = 8;  // for a large input, and as many dy

// Runs f and its backward, and returns plain numbers.
class Subject {
 public:
  Subject(const TensorFunction& f, const std::vector<NamedInput>& inputs, uint64_t seed)
      : f_(f), inputs_(inputs), seed_(seed) {}

  Values operator()(size_t input, const Tensor& value) const {
    std::vector<Tensor> xs = values();
    xs[input] = value;
    return result(xs).to_vector<double>();
  }
  Tensor y() const { return result(values()); }

  struct Gradients {
    std::vector<Tensor> dx;  // one per input; undefined where none came
    std::vector<bool> on_tape;
    std::string error;
  };
  Gradients backward(const Tensor& dy) const {
    std::vector<Tensor> leaves;
    for (const NamedInput& input : inputs_) {
      leaves.push_back(input.value.detach());
      if (is_float(input.value.dtype())) leaves.back().set_trainable();
    }
    Gradients result{{}, std::vector<bool>(leaves.size(), false), {}};
    Tape tape({.rng = Rng(seed_)});
    const Tensor y = f_(leaves);
    for (const Tensor& used : tape.leaves())
      for (size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i].id() == used.id()) result.on_tape[i] = true;
    try {
      if (tape.needs_gradient(y)) tape.backward(y, dy);
    } catch (const Error& error) {
      result.error = error.what();
    }
    for (const Tensor& leaf : leaves) result.dx.push_back(leaf.grad());
    return result;
  }

 private:
  std::vector<Tensor> values() const {
    std::vector<Tensor> xs;
    for (const NamedInput& input : inputs_) xs.push_back(input.value);
    return xs;
  }
  Tensor result(const std::vector<Tensor>& xs) const {
    Tape tape({.rng = Rng(seed_)});
    return f_(xs).detach();
  }

  const TensorFunction& f_;
  const std::vector<NamedInput>& inputs_;
  uint64_t seed_;
};

// What the entries of a column are called in messages.
std::string place_of(const Jacobian& j, int64_t column) {
  return j.sampled ? fmt::format("direction {}", column) : index_text(j.value.shape(), column);
}

// True where the slopes from both sides differ by more than one hundredth, which is far above rounding even
// where f bends within 10⁻³. `size` is the largest number of y.
bool kinked(double left, double right, double size) {
  const double apart = std::abs(right - left);
  return apart > 1e-2 * std::max(std::abs(right), std::abs(left)) && apart > 1e-6 * size;
}

// Fills `numeric`, (numbers of y, columns), with NaN and an entry in `kinks` where f is not smooth.
void differentiate(Jacobian& j, const Evaluate& f, const Directions& directions) {
  const Values y = j.y.to_vector<double>();
  const double size = largest_of(y);
  j.numeric.assign(y.size() * j.columns, 0.0);
  for (int64_t column = 0; column < j.columns; ++column) {
    const Stencil stencil(f, j.value, directions[column], directions.step(column));
    const std::string place = place_of(j, column);
    for (size_t k = 0; k < y.size(); ++k) {
      const double left = stencil.slope_left(k, y[k]), right = stencil.slope_right(k, y[k]);
      const bool kink = kinked(left, right, size);
      if (kink && (j.kinks.empty() || j.kinks.back().index != place)) j.kinks.push_back({place, left, right});
      j.numeric[k * j.columns + column] = kink ? std::numeric_limits<double>::quiet_NaN() : stencil.slope(k);
    }
  }
}

// One row of `tape`: the gradient along each of the columns.
Values seen(const Tensor& dx, const Directions& directions) {
  Values result(directions.count(), 0.0);
  if (!dx.defined()) return result;
  const Values gradient = dx.to_vector<double>();
  for (int64_t i = 0; i < directions.count(); ++i) result[i] = directions.along(i, gradient);
  return result;
}

// dyᵀ times `numeric`: the gradient that backward should have given.
Values expected(const Jacobian& j, const Values& dy) {
  Values sums(j.columns, 0.0);
  for (size_t k = 0; k < dy.size(); ++k)
    for (int64_t i = 0; i < j.columns; ++i) sums[i] += dy[k] * j.numeric[k * j.columns + i];
  return sums;
}

// Compares the gradients for one dy and keeps the five worst entries.
void compare(Jacobian& j, const Values& dy, const Tensor& dx, const Directions& directions) {
  const Values numeric = expected(j, dy), tape = seen(dx, directions);
  Values weighted = j.y.to_vector<double>();
  for (size_t k = 0; k < weighted.size(); ++k) weighted[k] *= dy[k];
  const double floor = directions.noise_floor(dx.defined() ? dx.to_vector<double>() : Values(), weighted);
  std::vector<GradientEntry> entries;
  double worst = 0;
  for (int64_t i = 0; i < j.columns; ++i) {
    if (std::isnan(numeric[i])) continue;  // a kink
    const double error = relative_error(tape[i], numeric[i], floor);
    worst = std::max(worst, error);
    entries.push_back({place_of(j, i), tape[i], numeric[i], error});
  }
  // By three digits of the error, then by place: rounding does not change the order.
  const auto rounded = [](double error) { return std::stod(fmt::format("{:.2e}", error)); };
  std::stable_sort(entries.begin(), entries.end(), [&](const GradientEntry& a, const GradientEntry& b) {
    return rounded(a.relative_error) > rounded(b.relative_error);
  });
  if (entries.size() > 5) entries.resize(5);
  if (j.worst.empty() || worst > j.max_relative_error) j.worst = std::move(entries);
  j.max_relative_error = std::max(j.max_relative_error, worst);
}

bool close(const Values& a, const Values& b) {
  double size = 0, apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    size = std::max({size, std::abs(a[i]), std::abs(b[i])});
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return apart <= 1e-9 * size;
}

// For a wrong gradient: computes the tape's whole Jacobian, and tests whether backward is linear in dy.
void investigate(Jacobian& j, const Subject& f, size_t input, const Tensor& dy, const Directions& directions,
                 uint64_t seed) {
  const auto gradient = [&](const Tensor& upstream) {
    return seen(f.backward(upstream).dx[input], directions);
  };
  const Values once = gradient(dy), none = gradient(zeros(dy.shape(), dy.dtype()));
  Values doubled = once;
  for (double& v : doubled) v *= 2;
  j.linear = close(gradient(affine(dy, 2, 0)), doubled);
  j.ignores_dy = euclidean_norm(once) > 0 && close(none, once);
  std::vector<Tensor> rows;
  if (j.sampled) {
    Values numeric;
    for (int d = 0; d < random_directions; ++d) {
      rows.push_back(Rng(seed).split("row").split(d).normal(dy.shape(), 0, 1, Dtype::f64));
      const Values row = expected(j, rows.back().to_vector<double>());
      numeric.insert(numeric.end(), row.begin(), row.end());
    }
    j.numeric = std::move(numeric);
  } else {
    for (int64_t k = 0; k < dy.numel(); ++k) {
      Values one(dy.numel(), 0.0);
      one[k] = 1;
      rows.push_back(tensor(dy.shape(), one));
    }
  }
  j.rows = static_cast<int64_t>(rows.size());
  for (const Tensor& row : rows) {
    const Values line = gradient(row);
    j.tape.insert(j.tape.end(), line.begin(), line.end());
  }
}

// The Jacobian by input i, given y and the gradients for each dy.
// Differences are those of `wanted`.
Jacobian jacobian_of(const Subject& subject, const Subject& wanted, const std::vector<NamedInput>& inputs,
                     size_t i, const Tensor& y, const std::vector<Tensor>& dys,
                     const std::vector<Subject::Gradients>& gradients, const JacobianOptions& options) {
  Jacobian j;
  j.name = inputs[i].name;
  j.value = inputs[i].value;
  j.y = y;
  j.inputs = inputs;
  // A Jacobian of a million numbers is 8 MB.
  const bool large = j.value.numel() * y.numel() > 1 << 20;
  const Directions directions(j.value, large ? 0 : options.element_limit, random_directions,
                              Rng(options.seed).split("direction"));
  j.sampled = directions.sampled();
  j.rows = y.numel();
  j.columns = directions.count();
  j.on_tape = gradients[0].on_tape[i];
  j.received = gradients[0].dx[i].defined();
  j.error = gradients[0].error;
  differentiate(
      j, [&](const Tensor& x) { return wanted(i, x); }, directions);
  if (!j.error.empty()) return j;
  for (size_t d = 0; d < dys.size(); ++d)
    compare(j, dys[d].to_vector<double>(), gradients[d].dx[i], directions);
  if (!j.right(options.tolerance)) investigate(j, subject, i, dys[0], directions, options.seed);
  return j;
}

}  // namespace

std::vector<Jacobian> jacobians(const TensorFunction& f, const std::vector<NamedInput>& inputs,
                                const JacobianOptions& options) {
  for (const NamedInput& input : inputs)
    check(input.value.dtype() != Dtype::f32,
          "jacobians: {} must be f64 (differences of f32 numbers are too coarse); use cast(x, Dtype::f64)",
          input.name);
  const Subject subject(f, inputs, options.seed);
  const Tensor y = subject.y();
  std::vector<Tensor> dys;
  for (int d = 0; d < 2; ++d)
    dys.push_back(Rng(options.seed).split("dy").split(d).normal(y.shape(), 0, 1, Dtype::f64));
  std::vector<Subject::Gradients> gradients;
  for (const Tensor& dy : dys) gradients.push_back(subject.backward(dy));

  std::vector<Jacobian> result;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!is_float(inputs[i].value.dtype())) continue;
    result.push_back(jacobian_of(subject, subject, inputs, i, y, dys, gradients, options));
    if (options.expected == nullptr || result.back().right(options.tolerance)) continue;
    const Subject expected(options.expected, inputs, options.seed);
    const Tensor other = expected.y();
    check(other.shape() == y.shape(), "jacobians: options.expected must give {}, as f does, got {}",
          y.shape(), other.shape());
    result.back() = jacobian_of(subject, expected, inputs, i, other, dys, gradients, options);
    result.back().as_expected = true;
  }
  return result;
}

}  // namespace isobar
