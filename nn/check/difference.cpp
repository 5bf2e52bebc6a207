#include "layer_runner.h"

#include <algorithm>
#include <cmath>

#include "../../autograd/check/diagnosis/differences.h"

namespace isobar {
namespace {

// "gradient of x [2, 0]": the element at `position` in row-major order.
std::string element_of(const NamedTensor& one, size_t position) {
  const Shape& shape = one.tensor.shape();
  return shape.ndim() == 0 ? one.name : one.name + " " + index_text(shape, static_cast<int64_t>(position));
}

double apart(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a - b) ? std::abs(a - b) : INFINITY;
}

size_t farthest(const Values& a, const Values& b) {
  size_t worst = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (apart(a[i], b[i]) > apart(a[worst], b[worst])) worst = i;
  return worst;
}

}  // namespace

std::string difference(const std::vector<NamedTensor>& got, const std::vector<NamedTensor>& wanted,
                       double tolerance, const std::vector<NamedTensor>& moved) {
  for (size_t t = 0; t < wanted.size(); ++t) {
    if (got[t].tensor.shape() != wanted[t].tensor.shape())
      return fmt::format("{}: wanted the shape {}, got {}", wanted[t].name, wanted[t].tensor.shape(),
                         got[t].tensor.shape());
    const Values a = got[t].tensor.to_vector<double>(), b = wanted[t].tensor.to_vector<double>();
    if (a.empty()) continue;
    // The lower limit is for a gradient that cancels to rounding errors, such as LayerNorm's for a constant
    // dy.
    double allowed = tolerance * std::max({largest_of(a), largest_of(b), 0.05});
    if (t < moved.size()) {
      const Values c = moved[t].tensor.to_vector<double>();
      const size_t i = farthest(c, b);
      allowed += 4 * apart(c[i], b[i]);
    }
    const size_t i = farthest(a, b);
    if (apart(a[i], b[i]) <= allowed) continue;
    const std::string is = fmt::format("{:.6g}", a[i]), should_be = fmt::format("{:.6g}", b[i]);
    return is != should_be
               ? fmt::format("{}: wanted {}, got {}", element_of(wanted[t], i), should_be, is)
               : fmt::format("{}: wanted {:.17g}, got {:.17g}", element_of(wanted[t], i), b[i], a[i]);
  }
  return "";
}

std::string not_finite(const std::vector<NamedTensor>& values) {
  for (const NamedTensor& one : values) {
    const Values numbers = one.tensor.to_vector<double>();
    for (size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i]))
        return fmt::format("{} is {}", element_of(one, i), std::isnan(numbers[i]) ? "NaN" : "infinite");
  }
  return "";
}

}  // namespace isobar
