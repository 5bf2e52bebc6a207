// Triangles of matrices. x is (…, M, N); row m and column n lie on diagonal n − m.
//
//   y = tril(x, k)    y_mn = x_mn where n − m ≤ k, else 0      dx = tril(dy, k)
//   y = triu(x, k)    y_mn = x_mn where n − m ≥ k, else 0      dx = triu(dy, k)

#include "../../core/kernels/map.h"
#include "../ops.h"
#include "../tape.h"

namespace isobar {
namespace {

// x where begin(m) ≤ n < end(m), zeros elsewhere; both are cut to [0, N].
template <class Begin, class End>
Tensor keep(const char* op, const Tensor& x, const Begin& begin, const End& end) {
  check(x.ndim() >= 2, "{}: wanted matrices in the last two dimensions, got {}", op, x.shape());
  const int64_t rows = x.size(-2), columns = x.size(-1);
  Tensor y = raw::clone(x);
  dispatch_any(x.dtype(), [&]<class T>() {
    T* const values = raw::write<T>(y);
    const int64_t count = columns == 0 ? 0 : x.numel() / columns;
    parallel_for(count, grain_of_rows(columns, kernels::map_grain), [&](int64_t first, int64_t last) {
      for (int64_t r = first; r < last; ++r) {
        T* const row = values + r * columns;
        const int64_t from = std::clamp<int64_t>(begin(r % rows), 0, columns);
        std::fill(row, row + from, T{0});
        std::fill(row + std::clamp<int64_t>(end(r % rows), from, columns), row + columns, T{0});
      }
    });
  });
  return y;
}

// Limits the diagonal, so that its sum with a row's number does not overflow.
int64_t bounded(int64_t diagonal) {
  constexpr int64_t far = int64_t{1} << 60;
  return std::clamp(diagonal, -far, far);
}

}  // namespace

Tensor tril(const Tensor& x, int64_t diagonal) {
  const int64_t k = bounded(diagonal);
  const Tensor y = keep(
      "tril", x, [](int64_t) { return 0; }, [k](int64_t m) { return m + k + 1; });
  return record("tril", y, {x}, [k](const Tensor& dy) { return tril(dy, k); });
}

Tensor triu(const Tensor& x, int64_t diagonal) {
  const int64_t k = bounded(diagonal), columns = x.ndim() > 0 ? x.size(-1) : 0;
  const Tensor y = keep(
      "triu", x, [k](int64_t m) { return m + k; }, [columns](int64_t) { return columns; });
  return record("triu", y, {x}, [k](const Tensor& dy) { return triu(dy, k); });
}

}  // namespace isobar
