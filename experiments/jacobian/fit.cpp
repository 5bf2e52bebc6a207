#include "fit.h"

#include <cmath>
#include <numbers>

#include "../../autograd/ops.h"

namespace isobar::jacobian {

const std::array<Curve, 2> curves = {{
    {"dyt", [](double x, double p, double sqrt_d) { return sqrt_d * std::tanh(p * x / sqrt_d); }, 1e-3, 1e2},
    {"dyisru", [](double x, double p, double sqrt_d) { return sqrt_d * x / std::sqrt(x * x + p); }, 1e-2,
     1e8},
}};

namespace {

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

}  // namespace

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
  const auto fit = [&](double log_p) {
    const double p = std::exp(log_p);
    double tt = 0, ty = 0;
    for (size_t i = 0; i < sample.x.size(); ++i) {
      const double t = curve.value(sample.x[i], p, sqrt_d);
      tt += t * t;
      ty += t * sample.y[i];
    }
    const double gain = free_gain ? ty / tt : 1;
    return Fit{p, gain, (yy - 2 * gain * ty + gain * gain * tt) / count};
  };
  return fit(argmin([&](double log_p) { return fit(log_p).mse; }, std::log(curve.low), std::log(curve.high)));
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

}  // namespace isobar::jacobian
