// Triangles of matrices. x is (…, M, N); row m and column n lie on diagonal n − m.
//
//   y = tril(x, k)    y_mn = x_mn where n − m ≤ k, else 0      dx = tril(dy, k)
//   y = triu(x, k)    y_mn = x_mn where n − m ≥ k, else 0      dx = triu(dy, k)
#include <functional>

#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// x where kept(n, m + diagonal), else zeros; not recorded.
template <class Kept>
Tensor triangle(OpName op, const Tensor& x, int64_t diagonal, const Kept& kept) {
  check(x.ndim() >= 2, "{}: wanted matrices in the last two dimensions, got {}", op, x.shape());
  constexpr int64_t far = int64_t{1} << 60;  // its sum with m does not overflow
  const double k = static_cast<double>(std::clamp(diagonal, -far, far));
  const NoTape pause;
  const Tensor m = unsqueeze(arange(x.size(-2)), -1), n = arange(x.size(-1));
  return where(kept(n, m + k), x, 0);
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal) {
  return record("tril", triangle("tril", x, diagonal, std::less_equal<>()), {x},
                [diagonal](const Tensor& dy) { return tril(dy, diagonal); });
}

Tensor triu(const Tensor& x, int64_t diagonal) {
  return record("triu", triangle("triu", x, diagonal, std::greater_equal<>()), {x},
                [diagonal](const Tensor& dy) { return triu(dy, diagonal); });
}

}  // namespace isobar
