//   y = c · tanh(x / c)
#include "../pointwise.h"

namespace isobar {

Tensor softcap(const Tensor& x, double cap) {
  check(cap > 0, "softcap: wanted a cap above 0, got {}", cap);
  return pointwise(
      "softcap", [cap](auto v) { return cap * tanh(v / cap); }, x);
}

}  // namespace isobar
