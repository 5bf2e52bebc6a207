#include "jacobian.h"

#include <cmath>
#include <limits>

#include "../ops.h"
#include "../tape.h"
#include "diagnosis/differences.h"

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
    Tape tape({.rng = Rng(seed_), .again = true});
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
// where f bends within 10⁻³, and by more than `least`.
bool kinked(double left, double right, double least) {
  const double apart = std::abs(right - left);
  return apart > 1e-2 * std::max(std::abs(right), std::abs(left)) && apart > least;
}

// Sets j.rounding and j.rounded. Steps of 3e-7 move a number that is held in f32 by a few of its last digits:
// second differences are as large as these, whatever the step, where those of a smooth function are of 1e-13
// and grow with its square. Of eight, the second largest counts, and none has x inside: a kink spoils at most
// one.
void find_rounding(Jacobian& j, const Evaluate& f, bool known, const Rng& rng) {
  const Values x = j.value.to_vector<double>(), y = j.y.to_vector<double>();
  const auto at = [&](double step) {
    Values moved = x;
    for (size_t i = 0; i < x.size(); ++i) moved[i] += step * std::max(1.0, std::abs(x[i])) * rng.normal_at(i);
    return f(tensor(j.value.shape(), moved));
  };
  const auto jumps = [&](double step) {
    Values first(y.size(), 0.0), second(y.size(), 0.0);
    for (const double start : {-12, -9, -6, -3, 1, 4, 7, 10}) {
      const Values one = at(start * step), two = at((start + 1) * step), three = at((start + 2) * step);
      for (size_t k = 0; k < y.size(); ++k) {
        const double jump = std::abs(three[k] - 2 * two[k] + one[k]);
        second[k] = std::max(second[k], std::min(first[k], jump));
        first[k] = std::max(first[k], jump);
      }
    }
    return second;
  };
  constexpr double step = 3e-7;
  const Values near = jumps(step);
  const double least = 1e-9 * largest_of(y);
  if (!(largest_of(near) > least) || largest_of(jumps(8 * step)) > 32 * largest_of(near)) {
    if (known)
      j.rounding = Rounding::whole, j.rounded = std::numeric_limits<float>::epsilon() * largest_of(y);
    return;
  }
  // A step of 3e-11 changes what has a way to y in f64.
  const Values here = at(1e-4 * step), there = at(-1e-4 * step);
  int64_t rough = 0, still = 0;
  for (size_t k = 0; k < y.size(); ++k) {
    if (near[k] <= least) continue;
    ++rough;
    still += here[k] == there[k];
  }
  j.rounding = 4 * still >= 3 * rough ? Rounding::whole : Rounding::partly;
  j.rounded = largest_of(near);
}

// Fills `numeric`, (numbers of y, columns), with NaN and an entry in `kinks` where f is not smooth.
void differentiate(Jacobian& j, const Evaluate& f, const Directions& directions) {
  const Values y = j.y.to_vector<double>();
  const double size = largest_of(y);
  j.numeric.assign(y.size() * j.columns, 0.0);
  for (int64_t column = 0; column < j.columns; ++column) {
    const Stencil stencil(f, j.value, directions[column], directions.step(column));
    const std::string place = place_of(j, column);
    const double least = std::max(1e-6 * size, 8 * j.rounded / stencil.h);
    for (size_t k = 0; k < y.size(); ++k) {
      const double left = stencil.slope_left(k, y[k]), right = stencil.slope_right(k, y[k]);
      const bool kink = kinked(left, right, least);
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

// Compares the gradients for one dy, of all columns or of `only` one, and keeps the five worst entries.
void compare(Jacobian& j, const Values& dy, const Tensor& dx, const Directions& directions,
             std::optional<int64_t> only = {}) {
  const Values numeric = expected(j, dy), tape = seen(dx, directions);
  Values weighted = j.y.to_vector<double>();
  for (size_t k = 0; k < weighted.size(); ++k) weighted[k] *= dy[k];
  const double floor = directions.noise_floor(dx.defined() ? dx.to_vector<double>() : Values(), weighted);
  std::vector<GradientEntry> entries;
  double worst = 0;
  for (int64_t i = 0; i < j.columns; ++i) {
    if (std::isnan(numeric[i]) || (only && i != *only)) continue;  // NaN: a kink
    double least = floor;
    if (j.rounded > 0) {
      const double noise = 2 * j.rounded * euclidean_norm(dy) / directions.step(i);  // of this difference
      if (noise > 0.1 * std::max({std::abs(tape[i]), std::abs(numeric[i]), largest_of(weighted)})) continue;
      least = std::max(floor, noise / j.allowed(0));
    }
    j.compared = true;
    const double error = relative_error(tape[i], numeric[i], least);
    worst = std::max(worst, error);
    entries.push_back({place_of(j, i), tape[i], numeric[i], error});
  }
  // By three digits of the error, then by place: rounding does not change the order.
  const auto rounded = [](double error) {
    return std::strtod(fmt::format("{:.2e}", error).c_str(), nullptr);
  };
  std::stable_sort(entries.begin(), entries.end(), [&](const GradientEntry& a, const GradientEntry& b) {
    return rounded(a.relative_error) > rounded(b.relative_error);
  });
  if (entries.size() > 5) entries.resize(5);
  if (j.worst.empty() || worst > j.max_relative_error) j.worst = std::move(entries);
  j.max_relative_error = std::max(j.max_relative_error, worst);
}

bool close(const Values& a, const Values& b, double tolerance, double least = 0) {
  double size = least, apart = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    size = std::max({size, std::abs(a[i]), std::abs(b[i])});
    apart = std::max(apart, std::abs(a[i] - b[i]));
  }
  return apart <= tolerance * size;
}

// Where each column has a kink: columns one by one, each with a dy that is zero where y has that kink.
void compare_beside_kinks(Jacobian& j, const Subject& f, size_t input, const Tensor& dy,
                          const Directions& directions) {
  for (int64_t i = 0; i < std::min<int64_t>(j.columns, random_directions); ++i) {
    Values kept = dy.to_vector<double>();
    double slope = 0;
    std::vector<size_t> bent;
    for (size_t k = 0; k < kept.size(); ++k) {
      const double numeric = j.numeric[k * j.columns + i];
      if (std::isnan(numeric))
        bent.push_back(k);
      else
        slope = std::max(slope, std::abs(numeric));
    }
    if (slope == 0) continue;  // y moves at its kinks alone
    for (const size_t k : bent) kept[k] = 0;
    const Tensor dx = f.backward(tensor(dy.shape(), kept)).dx[input];
    for (const size_t k : bent) j.numeric[k * j.columns + i] = 0;
    compare(j, kept, dx, directions, i);
    for (const size_t k : bent) j.numeric[k * j.columns + i] = std::numeric_limits<double>::quiet_NaN();
  }
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
  const double tolerance = j.rounding == Rounding::none ? 1e-9 : 1e-5;
  j.linear = close(gradient(affine(dy, 2, 0)), doubled, tolerance);
  j.ignores_dy = euclidean_norm(once) > 0 && close(none, once, tolerance);
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
  // A dy, and the sum of the gradients of its parts: its numbers one by one, or the rows.
  Values whole = dy.to_vector<double>(), sum(j.columns, 0.0);
  if (j.sampled) std::fill(whole.begin(), whole.end(), 0.0);
  for (int64_t k = 0; k < j.rows; ++k) {
    const Values line = gradient(rows[k]);
    j.tape.insert(j.tape.end(), line.begin(), line.end());
    const double times = j.sampled ? 1 : whole[k];
    for (int64_t i = 0; i < j.columns; ++i) sum[i] += times * line[i];
    if (!j.sampled) continue;
    const Values part = rows[k].to_vector<double>();
    for (size_t n = 0; n < part.size(); ++n) whole[n] += part[n];
  }
  // To four digits: a backward in f32 is not meant here.
  const double least = std::max(largest_of(j.numeric), 1e-2 * largest_of(j.y.to_vector<double>()));
  j.additive = close(j.sampled ? gradient(tensor(dy.shape(), whole)) : once, sum, 1e-4, least);
}

// The Jacobian by input i: differences of `wanted`, whose value is y, and the gradients that `subject` gave for each
// dy.
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
  const Rng rng = Rng(options.seed).split("direction");
  const Evaluate f = [&](const Tensor& x) { return wanted(i, x); };
  find_rounding(j, f, options.in_f32, rng.split("rounding"));
  const Directions directions(j.value, large ? 0 : options.element_limit, random_directions, rng,
                              j.rounding != Rounding::none);
  j.sampled = directions.sampled();
  j.rows = y.numel();
  j.columns = directions.count();
  j.on_tape = gradients[0].on_tape[i];
  j.received = gradients[0].dx[i].defined();
  j.error = gradients[0].error;
  differentiate(j, f, directions);
  if (!j.error.empty()) return j;
  j.compared = j.columns == 0;
  for (size_t d = 0; d < dys.size(); ++d)
    compare(j, dys[d].to_vector<double>(), gradients[d].dx[i], directions);
  if (!j.compared) compare_beside_kinks(j, subject, i, dys[0], directions);
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
