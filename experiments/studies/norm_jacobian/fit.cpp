#include "fit.h"

#include <numbers>

#include "../../../autograd/ops.h"

namespace isobar::jacobian {
namespace {

constexpr double outlier = 100;  // as in draw_samples()

double normal_density(double x, double std) {
  return std::exp(-x * x / (2 * std * std)) / (std * std::sqrt(2 * std::numbers::pi));
}

// A value and its probability. All grids here are even and reach to where a density is below 1e-16 of its
// largest value: for such smooth densities the sum over an even grid is exact to rounding.
struct Node {
  double value, share;
};

// χ² with n degrees of freedom, in steps of 0.4 of its standard deviation.
std::vector<Node> chi_square(double n) {
  std::vector<Node> nodes;
  const double std = std::sqrt(2 * n);
  double total = 0;
  for (int i = -28; i <= 28; ++i) {
    const double s = n + 0.4 * i * std;
    if (s <= 0) continue;
    // The logarithm of the density, less that at s = n.
    const double log_density = (n / 2 - 1) * std::log(s / n) - (s - n) / 2;
    nodes.push_back({s, std::exp(log_density)});
    total += nodes.back().share;
  }
  for (Node& node : nodes) node.share /= total;
  return nodes;
}

// The law of a² + s, for a of N(0, outlier²) and s of `others`. In a, 1/√(a² + s) is smooth over √s.
std::vector<Node> with_squared_outlier(const std::vector<Node>& others) {
  constexpr double step = 4;
  std::vector<Node> nodes;
  for (int i = 0; i * step <= 9 * outlier; ++i) {
    const double a = i * step, share = step * normal_density(a, outlier) * (i == 0 ? 1 : 2);
    for (const Node& other : others) nodes.push_back({a * a + other.value, share * other.share});
  }
  return nodes;
}

Population::Point point_at(double x, double share, int64_t d, const std::vector<Node>& other_squares) {
  double first = 0, second = 0;  // E[(x² + S)^−½], E[(x² + S)^−1]
  for (const Node& node : other_squares) {
    const double inverse = 1 / (x * x + node.value);
    first += node.share * std::sqrt(inverse);
    second += node.share * inverse;
  }
  const auto n = static_cast<double>(d);
  return {x, share, std::sqrt(n) * x * first, n * x * x * (second - first * first)};
}

// Two kinds of elements of the same value: nobody who sees x alone can tell them apart.
Population::Point merged(const Population::Point& a, const Population::Point& b) {
  const double share = a.share + b.share, of_b = share > 0 ? b.share / share : 0, gap = b.mean - a.mean;
  return {a.x, share, a.mean + of_b * gap,
          (1 - of_b) * a.variance + of_b * b.variance + of_b * (1 - of_b) * gap * gap};
}

// Calls body(x, dx) over a grid even in ln x: from where x² no longer counts to ten stds.
void over_magnitudes(double std, const std::function<void(double x, double dx)>& body) {
  constexpr double step = 0.02;
  for (double log_x = std::log(1e-5); log_x < std::log(10 * std); log_x += step)
    body(std::exp(log_x), step * std::exp(log_x));
}

double moment(const Population& population, const std::function<double(const Population::Point&)>& value) {
  double sum = 0;
  for (const Population::Point& point : population.points) sum += point.share * value(point);
  return sum;
}

// The error of gain · f, and the gain.
Fit fit_of(const Population& population, bool free_gain, double p, const std::function<double(double x)>& f) {
  const double ff = moment(population, [&](const auto& at) { return f(at.x) * f(at.x); });
  const double fy = moment(population, [&](const auto& at) { return f(at.x) * at.mean; });
  const double gain = free_gain ? fy / ff : 1;
  const double excess = moment(population, [&](const auto& at) {
    const double gap = gain * f(at.x) - at.mean;
    return gap * gap;
  });
  return {p, gain, population.best_mse() + excess};
}

// Channels `begin` to `end` of x (rows, d).
Sample sample_of(const std::string& name, const Tensor& x, int64_t begin, int64_t end,
                 double others = Run::no_theory) {
  const int64_t d = x.size(1);
  const auto part = [&](const Tensor& t) { return slice(t, 1, begin, end).to_vector<double>(); };
  return {.name = name, .d = d, .others = others, .x = part(x), .y = part(rms_norm(x, {d}, {}, 0))};
}

// x with channel 0 times these factors (rows, 1).
Tensor with_outlier(const Tensor& x, const Tensor& factors) {
  return concat({slice(x, 1, 0, 1) * factors, slice(x, 1, 1, x.size(1))}, 1);
}

// What fit(p) gives at the p of its least error, which is sought by its logarithm.
template <class F>
Fit least(const Curve& curve, const F& fit) {
  const auto mse = [&](double log_p) { return fit(std::exp(log_p)).mse; };
  return fit(std::exp(argmin(mse, std::log(curve.low), std::log(curve.high))));
}

}  // namespace

const std::array<Curve, 2> curves = {{
    {"dyt", [](double x, double p, double sqrt_d) { return sqrt_d * std::tanh(p * x / sqrt_d); }, 1e-3, 1e2},
    {"dyisru", [](double x, double p, double sqrt_d) { return sqrt_d * x / std::sqrt(x * x + p); }, 1e-2,
     1e8},
}};

std::vector<Sample> draw_samples(int64_t rows, int64_t d, const Rng& rng) {
  const auto draw = [&](const char* name) { return rng.split(name).normal({rows, d}, 0, 1, Dtype::f64); };
  const Tensor x = draw("x");
  const Tensor chi_square = square(draw("chi1")) + square(draw("chi2")) + square(draw("chi3"));
  const Tensor loud = with_outlier(x, full({rows, 1}, 100, Dtype::f64));
  const Tensor size = exp(rng.split("size").uniform({rows, 1}, 0, std::log(1000.0), Dtype::f64));
  const Tensor sweep = with_outlier(x, size / sqrt(square(slice(x, 1, 0, 1))));  // keeps x's sign
  const auto others = static_cast<double>(d - 1);                                // numbers of N(0, 1)
  return {sample_of("normal", x, 0, d, others),     sample_of("student_t3", x / sqrt(chi_square / 3), 0, d),
          sample_of("outlier_channel", loud, 0, d), sample_of("outlier_alone", loud, 0, 1, others),
          sample_of("rest_alone", loud, 1, d),      sample_of("sweep_alone", sweep, 0, 1, others)};
}

double argmin(const std::function<double(double)>& f, double low, double high) {
  constexpr int cells = 24, sections = 40;
  const double width = (high - low) / cells;
  double best = low, least = f(low);
  for (int i = 1; i <= cells; ++i)
    if (const double value = f(low + i * width); value < least) best = low + i * width, least = value;
  constexpr double golden = 1 / std::numbers::phi;
  double a = best - width, b = best + width;
  double p = b - golden * (b - a), q = a + golden * (b - a), fp = f(p), fq = f(q);
  for (int i = 0; i < sections; ++i) {
    if (fp < fq) {
      b = q, q = p, fq = fp;
      p = b - golden * (b - a), fp = f(p);
    } else {
      a = p, p = q, fp = fq;
      q = a + golden * (b - a), fq = f(q);
    }
  }
  return (a + b) / 2;
}

Fit best_fit(const Sample& sample, const Curve& curve, bool free_gain) {
  const double sqrt_d = std::sqrt(static_cast<double>(sample.d));
  const auto count = static_cast<double>(sample.x.size());
  const double yy = dot(sample.y, sample.y);
  return least(curve, [&](double p) {
    double tt = 0, ty = 0;
    for (size_t i = 0; i < sample.x.size(); ++i) {
      const double t = curve.value(sample.x[i], p, sqrt_d);
      tt += t * t;
      ty += t * sample.y[i];
    }
    const double gain = free_gain ? ty / tt : 1;
    return Fit{p, gain, (yy - 2 * gain * ty + gain * gain * tt) / count};
  });
}

void measure_fits(Measurements& measurements, int64_t rows, int64_t d, const Rng& rng) {
  for (const Sample& sample : draw_samples(rows, d, rng))
    for (const bool free_gain : {false, true}) {
      const std::string key = fmt::format("{}.{}.", free_gain ? "fit_gain" : "fit", sample.name);
      const auto measure = [&](const Curve& curve, double theory) {
        const Fit fit = best_fit(sample, curve, free_gain);
        measurements.add(key + curve.name + ".mse", fit.mse);
        measurements.add(key + curve.name + ".p", fit.p, theory);
        if (free_gain) measurements.add(key + curve.name + ".gain", fit.gain);
        return fit.mse;
      };
      const double dyt = measure(curves[0], Run::no_theory);
      const double dyisru = measure(curves[1], free_gain ? Run::no_theory : sample.others);
      measurements.add(key + "dyisru_over_dyt", dyisru / dyt);
    }
}

double Population::best_mse() const {
  return moment(*this, [](const Point& at) { return at.variance; });
}

Population normal_population(int64_t d) {
  Population population{"normal", d, {}};
  const std::vector<Node> others = chi_square(static_cast<double>(d - 1));
  over_magnitudes(1, [&](double x, double dx) {
    population.points.push_back(point_at(x, 2 * dx * normal_density(x, 1), d, others));
  });
  return population;
}

Population outlier_population(int64_t d) {
  Population population{"outlier_channel", d, {}};
  const std::vector<Node> beside_outlier = chi_square(static_cast<double>(d - 1)),
                          beside_others = with_squared_outlier(chi_square(static_cast<double>(d - 2)));
  const double one = 1 / static_cast<double>(d);
  over_magnitudes(outlier, [&](double x, double dx) {
    population.points.push_back(
        merged(point_at(x, (1 - one) * 2 * dx * normal_density(x, 1), d, beside_others),
               point_at(x, one * 2 * dx * normal_density(x, outlier), d, beside_outlier)));
  });
  return population;
}

Population constant_outlier_population(int64_t d) {
  Population population{"constant_outlier", d, {}};
  const std::vector<Node> beside_outlier = chi_square(static_cast<double>(d - 1));
  std::vector<Node> beside_others = chi_square(static_cast<double>(d - 2));
  for (Node& node : beside_others) node.value += outlier * outlier;
  const double one = 1 / static_cast<double>(d);
  over_magnitudes(1, [&](double x, double dx) {
    population.points.push_back(point_at(x, (1 - one) * 2 * dx * normal_density(x, 1), d, beside_others));
  });
  population.points.push_back(point_at(outlier, one, d, beside_outlier));
  return population;
}

Fit best_fit(const Population& population, const Curve& curve, bool free_gain) {
  const double sqrt_d = std::sqrt(static_cast<double>(population.d));
  return least(curve, [&](double p) {
    return fit_of(population, free_gain, p, [&](double x) { return curve.value(x, p, sqrt_d); });
  });
}

double identity_mse(const Population& population, bool free_gain) {
  return fit_of(population, free_gain, 1, [](double x) { return x; }).mse;
}

void measure_populations(Measurements& measurements, int64_t d) {
  for (const Population& population :
       {normal_population(d), outlier_population(d), constant_outlier_population(d)}) {
    const double best = population.best_mse();
    measurements.add(fmt::format("fit.{}.best_mse", population.name), best);
    for (const bool free_gain : {false, true}) {
      const std::string key = fmt::format("{}.{}.", free_gain ? "fit_gain" : "fit", population.name);
      for (const Curve& curve : curves)
        measurements.add(fmt::format("{}{}_over_best", key, curve.name),
                         best_fit(population, curve, free_gain).mse / best);
      measurements.add(key + "identity_over_best", identity_mse(population, free_gain) / best);
    }
  }
}

}  // namespace isobar::jacobian
