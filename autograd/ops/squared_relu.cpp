//   y = max(0, x)²
#include "../pointwise.h"

namespace isobar {

Tensor squared_relu(const Tensor& x) {
  return pointwise(
      "squared_relu", [](auto v) { return where(v <= 0, 0, square(v)); }, x);
}

}  // namespace isobar
