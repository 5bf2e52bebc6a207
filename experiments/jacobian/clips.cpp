#include "clips.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "../../nn/nn.h"

namespace isobar::jacobian {
namespace {

double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

void measure_curve(Measurements& measurements, const std::string& name, Module& clip, double (*y)(double)) {
  std::vector<double> points;
  for (int i = -100'000; i <= 100'000; ++i) points.push_back(i / 1000.0);
  const Tensor x = tensor(Shape{static_cast<int64_t>(points.size())}, points);
  const std::vector<double> values = clip(x).to_vector<double>();
  double gap = 0, bound = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    gap = std::max(gap, std::abs(std::clamp(points[i], -1.0, 1.0) - values[i]));
    bound = std::max(bound, std::abs(values[i]));
  }
  measurements.add("clip." + name + ".largest_gap", gap, 1 - y(1));
  measurements.add("clip." + name + ".bound", bound, y(100));
  for (const int k : {1, 10, 100}) {
    const std::vector<double> steep = clip(x * k).to_vector<double>();
    double largest = 0;
    for (size_t i = 0; i < points.size(); ++i)
      if (std::abs(points[i]) >= 1) largest = std::max(largest, std::abs(sign(points[i]) - steep[i]));
    measurements.add(fmt::format("sign.{}.gap.k{}", name, k), largest, 1 - y(k));
  }
}

}  // namespace

void measure_clips(Measurements& measurements, const Rng& rng) {
  Softcap softcap(1);
  ISRUClip isru(1);
  measure_curve(measurements, "tanh", softcap, [](double x) { return std::tanh(x); });
  measure_curve(measurements, "isru", isru, [](double x) { return x / std::sqrt(1 + x * x); });
  const Tensor x = rng.normal({128, 512}, 0, 1, Dtype::f64);
  const Tensor signs = reshape(rms_norm(reshape(x, {x.numel(), 1}), {1}, {}, 0), x.shape());
  double error = 0;
  const std::vector<double> inputs = x.to_vector<double>(), outputs = signs.to_vector<double>();
  for (size_t i = 0; i < inputs.size(); ++i) error = std::max(error, std::abs(outputs[i] - sign(inputs[i])));
  measurements.add("chain.sign.error", error, 0);
  measurements.add("chain.sign.mse", mean(square(signs - rms_norm(x, {512}, {}, 0))).item(),
                   2 - 2 * std::sqrt(2 * std::numbers::inv_pi));
}

}  // namespace isobar::jacobian
