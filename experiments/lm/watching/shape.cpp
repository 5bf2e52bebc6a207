#include "shape.h"

#include <algorithm>
#include <numeric>

namespace isobar::ladder {
namespace {

struct Point {
  double x, y;  // |x|, and y with the sign of x taken from it
};

double slope_of(std::span<const Point> points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0, mean_y = 0, product = 0, square = 0;
  for (const Point& p : points) mean_x += p.x / n, mean_y += p.y / n;
  for (const Point& p : points) {
    product += (p.x - mean_x) * (p.y - mean_y);
    square += (p.x - mean_x) * (p.x - mean_x);
  }
  return product / square;
}

}  // namespace

double tail_over_centre(const Tensor& x) {
  const auto width = static_cast<size_t>(x.shape()[x.ndim() - 1]);
  const std::vector<float> values = cast(x.detach(), Dtype::f32).to_vector<float>();
  std::vector<Point> points;
  for (size_t row = 0; row + width <= values.size(); row += width) {
    const std::span<const float> of_row(values.data() + row, width);
    double mean = 0, square = 0;
    for (const double v : of_row) mean += v / static_cast<double>(width);
    for (const double v : of_row) square += (v - mean) * (v - mean) / static_cast<double>(width);
    for (const double v : of_row)
      points.push_back({std::abs(v), (v - mean) / std::sqrt(square) * (v < 0 ? -1 : 1)});
  }
  if (points.size() < 200) return NAN;
  std::ranges::sort(points, {}, &Point::x);
  const std::span<const Point> all(points);
  return slope_of(all.last(points.size() / 100)) / slope_of(all.first(points.size() / 2));
}

void EndsOfStream::on_output(const Module& module, const Tensor& y) {
  if (module.type_name() == "Embedding") first_ = y;
  if (module.type_name() == "TransformerBlock") last_ = y;
}

std::vector<double> EndsOfStream::tail_over_centre() const {
  if (!first_.defined() || !last_.defined()) return {};
  return {ladder::tail_over_centre(first_), ladder::tail_over_centre(last_)};
}

}  // namespace isobar::ladder
