//   minimum:  y = min(a, b)           da = dy where a < b, dy / 2 where a = b, else 0; db likewise
//   maximum:  y = max(a, b)           the same with a > b
//   clamp:    y = clamp(x, lo, hi)    dx = dy where lo ≤ x ≤ hi, else 0
// Where either operand is NaN, y is NaN, and both get dy.
#include <cmath>
#include <limits>

#include "../ops.h"
#include "../tape.h"
#include "combine.h"

namespace isobar {
namespace {

// The gradient of one operand, 0 where it `loses`: where the other one is chosen.
Tensor tie_gradient(const Tensor& dy, const Tensor& ties, const Tensor& loses) {
  return where(loses, 0, where(ties, dy / 2, dy));
}

// The operand that is `better`, of numbers and of tensors.
template <class Better>
Tensor chosen(OpName op, const Operand& left, const Operand& right, const Better& better) {
  const Tensor a = tensor_of(op, left, right), b = tensor_of(op, right, left);
  Tensor y = combine_floats(op, a, b, [&](auto p, auto q) { return better(p, q) || std::isnan(p) ? p : q; });
  return record(op, y, {a, b}, [a, b, better](const Tensor& dy, Wants wants) {
    const Tensor ties = a == b;
    return std::array{wants[0] ? tie_gradient(dy, ties, better(b, a)) : Tensor(),
                      wants[1] ? tie_gradient(dy, ties, better(a, b)) : Tensor()};
  });
}

}  // namespace

Tensor minimum(const Operand& a, const Operand& b) {
  return chosen("minimum", a, b, [](const auto& p, const auto& q) { return p < q; });
}
Tensor maximum(const Operand& a, const Operand& b) {
  return chosen("maximum", a, b, [](const auto& p, const auto& q) { return p > q; });
}

Tensor clamp(const Tensor& x, std::optional<double> min, std::optional<double> max) {
  check(min || max, "clamp: wanted min, max or both, got neither");
  check(!std::isnan(min.value_or(0)) && !std::isnan(max.value_or(0)),
        "clamp: wanted numbers as bounds, got min {} and max {}", min.value_or(-INFINITY),
        max.value_or(INFINITY));
  const double lowest = min.value_or(-std::numeric_limits<double>::infinity());
  const double highest = max.value_or(std::numeric_limits<double>::infinity());
  Tensor y = map_elements("clamp", x, [lowest, highest](auto v) {
    const auto lo = static_cast<decltype(v)>(lowest), hi = static_cast<decltype(v)>(highest);
    v = v < lo ? lo : v;
    return v > hi ? hi : v;
  });
  return record("clamp", y, {x},
                [x, lowest, highest](const Tensor& dy) { return where(x >= lowest && x <= highest, dy, 0); });
}

}  // namespace isobar
