#include "differences.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace isobar {

double euclidean_norm(const Values& values) {
  double squares = 0;
  for (double v : values) squares += v * v;
  return std::sqrt(squares);
}

double largest_of(const Values& values) {
  double result = 0;
  for (double v : values) result = std::max(result, std::abs(v));
  return result;
}

std::string index_text(const Shape& shape, int64_t position) {
  return fmt::format("[{}]", fmt::join(shape.index_at(position), ", "));
}

Stencil::Stencil(const Evaluate& f, const Tensor& x, const Values& direction, double step) : h(step) {
  const auto at = [&](double distance) {
    Values moved = x.to_vector<double>();
    for (size_t i = 0; i < moved.size(); ++i) moved[i] += distance * direction[i];
    return f(tensor(x.shape(), moved));
  };
  right = at(h), left = at(-h), far_right = at(2 * h), far_left = at(-2 * h);
}

double Stencil::slope_of_sum(const Values& weights) const {
  double sum = 0;
  for (size_t k = 0; k < weights.size(); ++k) sum += weights[k] * slope(k);
  return sum;
}

Directions::Directions(const Tensor& x, int64_t element_limit, int random, const Rng& rng, bool in_f32)
    : x_(x.to_vector<double>()),
      sampled_(x.numel() > element_limit),
      in_f32_(in_f32),
      random_(random),
      rng_(rng) {}

Values Directions::operator[](int64_t i) const {
  Values direction(x_.size(), 0.0);
  if (!sampled_) {
    direction[i] = 1;
    return direction;
  }
  const Rng signs = rng_.split(static_cast<uint64_t>(i));
  for (size_t j = 0; j < direction.size(); ++j) direction[j] = signs.below(2, j) == 0 ? -1 : 1;
  return direction;
}

double Directions::step(int64_t i) const {
  static const double step = std::cbrt(std::numeric_limits<double>::epsilon());
  const double size = std::max(1.0, sampled_ ? largest_of(x_) : std::abs(x_[i]));
  return in_f32_ ? 4e-3 * std::sqrt(size) : step * size;
}

double Directions::along(int64_t i, const Values& gradient) const {
  if (!sampled_) return gradient[i];
  const Values direction = (*this)[i];
  double sum = 0;
  for (size_t j = 0; j < gradient.size(); ++j) sum += direction[j] * gradient[j];
  return sum;
}

double Directions::noise_floor(const Values& gradient, const Values& weighted) const {
  return std::max(1e-3 * (sampled_ ? euclidean_norm(gradient) : largest_of(gradient)),
                  1e-4 * euclidean_norm(weighted));
}

double relative_error(double tape, double numeric, double floor) {
  const double apart = std::abs(tape - numeric);
  if (apart == 0) return 0;
  const double error = apart / std::max({std::abs(tape), std::abs(numeric), floor});
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace isobar
