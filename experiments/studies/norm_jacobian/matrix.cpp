#include "matrix.h"

#include <tuple>

#include "../../../autograd/ops.h"
#include "../../../autograd/tape.h"

namespace isobar::jacobian {
namespace {

// The greater of the two; NaN stays.
double greater(double most, double value) { return value <= most || std::isnan(most) ? most : value; }

constexpr double default_eps = 1e-5;  // of our RMSNorm and LayerNorm

double mean_of(const Vector& v) { return dot(v, Vector(v.size(), 1)) / static_cast<double>(v.size()); }

// v = x, or x − mean; r = 1/√(mean v² + eps); y = v r.
struct Normalized {
  Vector v, y;
  double r;
};
Normalized normalize(const Vector& x, bool centred, double eps) {
  const double centre = centred ? mean_of(x) : 0;
  Normalized n{.v = x, .y = x, .r = 0};
  for (double& value : n.v) value -= centre;
  n.r = 1 / std::sqrt(dot(n.v, n.v) / static_cast<double>(x.size()) + eps);
  for (size_t i = 0; i < x.size(); ++i) n.y[i] = n.v[i] * n.r;
  return n;
}

// One function's measurements. `null` is the direction that eps = 0 loses; eps leaves this gain of it.
struct Expected {
  Matrix jacobian;
  Vector null;
  double null_gain;
  int64_t rank;
};
void compare(Measurements& measurements, const std::string& key, const Matrix& ours,
             const Expected& expected) {
  measurements.add(key + ".max_abs_diff", max_difference(ours.values, expected.jacobian.values), 0);
  measurements.add(key + ".asymmetry", asymmetry(ours), 0);
  const double null = norm(times(ours, expected.null)) / norm(expected.null);
  if (expected.null_gain > 0) {
    measurements.add(key + ".null_with_eps", null);
    measurements.add(key + ".null_over_theory", null / expected.null_gain, 1);
  } else {
    measurements.add(key + ".null", null, 0);
  }
  const Rank rank = rank_of(ours);
  measurements.add(key + ".rank", static_cast<double>(rank.rank), static_cast<double>(expected.rank));
  measurements.add(key + ".rank_last_kept", rank.last_kept);
  measurements.add(key + ".rank_first_dropped", rank.first_dropped);
}

// LayerNorm where centred, else RMSNorm.
void measure_norm(Measurements& measurements, const std::string& key, const Tensor& x, bool centred,
                  double eps) {
  const int64_t n = x.numel();
  const auto d = static_cast<double>(n);
  const Normalized at = normalize(x.to_vector<double>(), centred, eps);
  const double ones_lost = centred ? 1 / d : 0;
  const Matrix closed =
      matrix_of(n, [&](size_t i, size_t j) { return at.r * ((i == j) - ones_lost - at.y[i] * at.y[j] / d); });
  const auto function = [&](const Tensor& t) {
    return centred ? layer_norm(t, {n}, {}, {}, eps) : rms_norm(t, {n}, {}, eps);
  };
  const Matrix ours = backward_jacobian(function, x);
  compare(measurements, key, ours, {closed, at.v, eps * at.r * at.r * at.r, n - centred - (eps == 0)});
  const Vector ones(at.v.size(), 1);
  if (centred) measurements.add(key + ".null_of_ones", norm(times(ours, ones)) / norm(ones), 0);
}

void measure_unit(Measurements& measurements, const std::string& key, const Tensor& x) {
  const int64_t n = x.numel();
  const Vector v = x.to_vector<double>();
  const double length = norm(v);
  const Matrix closed = matrix_of(
      n, [&](size_t i, size_t j) { return (i == j) / length - v[i] * v[j] / (length * length * length); });
  compare(measurements, key, backward_jacobian([](const Tensor& t) { return t / sqrt(sum(square(t))); }, x),
          {closed, v, 0, n - 1});
}

// ∇ₓ of uᵀ J v = r u·v − r³ (u·x)(x·v)/d, where ∇r = −r³ x/d.
Vector second_derivative(const Vector& x, const Vector& u, const Vector& v, double eps) {
  const auto d = static_cast<double>(x.size());
  const double r = normalize(x, false, eps).r, r3 = r * r * r;
  const double ux = dot(u, x), xv = dot(x, v), uv = dot(u, v);
  Vector result(x.size());
  for (size_t i = 0; i < x.size(); ++i)
    result[i] = -r3 / d * (x[i] * uv + u[i] * xv + v[i] * ux) + 3 * r3 * r * r * ux * xv * x[i] / (d * d);
  return result;
}

// uᵀ r (I − y yᵀ/d) v.
double first_derivative(const Vector& x, const Vector& u, const Vector& v, double eps) {
  const Normalized n = normalize(x, false, eps);
  return n.r * (dot(u, v) - dot(u, n.y) * dot(n.y, v) / static_cast<double>(x.size()));
}

double remainder(const Vector& x, const Vector& delta) {
  Vector moved = x, rest(x.size());
  for (size_t i = 0; i < x.size(); ++i) moved[i] += delta[i];
  const double length = norm(x), moved_length = norm(moved), along = dot(x, delta);
  for (size_t i = 0; i < x.size(); ++i)
    rest[i] = moved[i] / moved_length - x[i] / length -
              (delta[i] / length - along * x[i] / (length * length * length));
  return norm(rest);
}

}  // namespace

Matrix matrix_of(int64_t size, const std::function<double(size_t i, size_t j)>& element) {
  Matrix a(size);
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = 0; j < size; ++j) a(i, j) = element(static_cast<size_t>(i), static_cast<size_t>(j));
  return a;
}

Matrix backward_jacobian(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
  const int64_t d = x.numel();
  Matrix result(d);
  Tensor leaf = x.detach();
  leaf.set_trainable();
  for (int64_t i = 0; i < d; ++i) {
    Vector unit(static_cast<size_t>(d));
    unit[static_cast<size_t>(i)] = 1;
    Tape tape;
    const Vector row = tape.gradient(f(leaf), {leaf}, tensor({d}, unit))[0].to_vector<double>();
    std::copy(row.begin(), row.end(), result.values.begin() + i * d);
  }
  return result;
}

double max_abs(const Vector& v) {
  double most = 0;
  for (const double value : v) most = greater(most, std::abs(value));
  return most;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double norm(const Vector& v) { return std::sqrt(dot(v, v)); }

Vector times(const Matrix& a, const Vector& v) {
  Vector result(v.size());
  for (int64_t i = 0; i < a.size; ++i)
    for (int64_t j = 0; j < a.size; ++j)
      result[static_cast<size_t>(i)] += a(i, j) * v[static_cast<size_t>(j)];
  return result;
}

double max_difference(const Vector& a, const Vector& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = greater(most, std::abs(a[i] - b[i]));
  return most;
}

double asymmetry(const Matrix& a) {
  double most = 0;
  for (int64_t i = 0; i < a.size; ++i)
    for (int64_t j = 0; j < i; ++j) most = greater(most, std::abs(a(i, j) - a(j, i)));
  return most;
}

Rank rank_of(Matrix a, double tolerance) {
  double first = 0, kept = 0;
  for (int64_t k = 0; k < a.size; ++k) {
    // The largest entry of what is left becomes the pivot.
    int64_t row = k, column = k;
    for (int64_t i = k; i < a.size; ++i)
      for (int64_t j = k; j < a.size; ++j)
        if (std::abs(a(i, j)) > std::abs(a(row, column))) row = i, column = j;
    const double pivot = std::abs(a(row, column));
    if (k == 0) first = pivot;
    if (pivot <= tolerance * first) return {k, kept, first > 0 ? pivot / first : 0};
    kept = pivot / first;
    for (int64_t j = 0; j < a.size; ++j) std::swap(a(k, j), a(row, j));
    for (int64_t i = 0; i < a.size; ++i) std::swap(a(i, k), a(i, column));
    // Its column is cleared below it.
    for (int64_t i = k + 1; i < a.size; ++i) {
      const double factor = a(i, k) / a(k, k);
      for (int64_t j = k; j < a.size; ++j) a(i, j) -= factor * a(k, j);
    }
  }
  return {a.size, kept, 0};
}

void measure_jacobians(Measurements& measurements, int64_t d, const Rng& rng) {
  // A mean of 0.5 and a std of 1.5, so that neither LayerNorm's centring nor the scale is without effect.
  const Tensor x = rng.split("x").normal({d}, 0.5, 1.5, Dtype::f64);
  const auto key = [d](const char* function) { return fmt::format("jacobian.{}.d{}", function, d); };
  measure_norm(measurements, key("rmsnorm"), x, false, 0);
  measure_norm(measurements, key("layernorm"), x, true, 0);
  measure_unit(measurements, key("unit"), x);
  measure_norm(measurements, key("rmsnorm_eps"), x, false, default_eps);
  measure_norm(measurements, key("layernorm_eps"), x, true, default_eps);

  const Tensor scaled = x / sqrt(sum(square(x))) * std::sqrt(static_cast<double>(d));
  measurements.add(fmt::format("identity.d{}.max_abs_diff", d),
                   max_difference(rms_norm(x, {d}, {}, 0).to_vector<double>(), scaled.to_vector<double>()),
                   0);
}

void measure_second_derivatives(Measurements& measurements, int64_t d, const Rng& rng) {
  const auto draw = [&](const char* name) { return rng.split(name).normal({d}, 0, 1, Dtype::f64); };
  Tensor x = draw("x").set_trainable();
  const Tensor u = draw("u"), v = draw("v");
  Vector ours;
  {
    Tape tape({.higher_order = true});
    const Tensor row = tape.gradient(rms_norm(x, {d}, {}, default_eps), {x}, u)[0];  // Jᵀ u
    ours = tape.gradient(row, {x}, v)[0].to_vector<double>();
  }
  const Vector at = x.to_vector<double>(), us = u.to_vector<double>(), vs = v.to_vector<double>();
  const Vector closed = second_derivative(at, us, vs, default_eps);
  // Central differences err by the third derivative times step²/6 and by rounding, 1e-16/step.
  constexpr double step = 1e-5;
  Vector differences(at.size());
  for (size_t i = 0; i < at.size(); ++i) {
    Vector above = at, below = at;
    above[i] += step, below[i] -= step;
    differences[i] =
        (first_derivative(above, us, vs, default_eps) - first_derivative(below, us, vs, default_eps)) /
        (2 * step);
  }
  const std::string key = fmt::format("second.rmsnorm.d{}", d);
  measurements.add(key + ".closed_form_diff", max_difference(ours, closed) / max_abs(closed), 0);
  measurements.add(key + ".finite_difference_diff", max_difference(ours, differences) / max_abs(closed), 0);
}

void measure_expansions(Measurements& measurements, int64_t d, const Rng& rng) {
  const auto draw = [&](const char* name) {
    return rng.split(name).normal({d}, 0, 1, Dtype::f64).to_vector<double>();
  };
  const Vector x = draw("x");
  Vector across = draw("across");
  const double along = dot(across, x) / dot(x, x);
  for (size_t i = 0; i < x.size(); ++i) across[i] -= along * x[i];
  for (const double s : {0.001, 0.1, 1.0})
    for (const auto& [name, direction, theory] :
         {std::tuple{"across", &std::as_const(across), std::sqrt(1 + s * s) - 1}, {"along", &x, 0.0}}) {
      Vector delta = *direction;
      for (double& v : delta) v *= s * norm(x) / norm(*direction);
      measurements.add(fmt::format("expansion.{}.d{}.s{:g}.remainder", name, d, s), remainder(x, delta),
                       theory);
    }
}

}  // namespace isobar::jacobian
