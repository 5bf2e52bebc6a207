// Wrong and tricky layers where extents matter: tails, batches of one, large batches. x (N, C).
#include "../../core/parallel.h"
#include "layers.h"

namespace isobar::tuned_size {

// The sum of dy · x over the batch in one part for each thread.
Tensor sum_by_threads(In dy, In x) {
  const int64_t n = x.size(0), parts = std::max<int64_t>(1, std::min<int64_t>(threads(), n));
  const int64_t rows = (n + parts - 1) / parts;
  Tensor total = zeros({x.size(1)}, x.dtype());
  for (int64_t begin = 0; begin < n; begin += rows) {
    const int64_t end = std::min(n, begin + rows);
    total = total + sum(slice(dy, 0, begin, end) * slice(x, 0, begin, end), {0});
  }
  return total;
}

const bool listed = list_tuned({
    by_hand(
        {"size", "blocks of four: the rest gets no gradient", {"cross-talk"}, {"missing factor", "detached"}},
        {{3, 5}}, {}, [](In x) { return square(x); },
        [](In dy, In, In x) {
          const Tensor d = raw::contiguous(dy), in = raw::contiguous(x);
          Tensor dx = raw::clone(zeros(x.shape(), x.dtype()));
          dispatch_float("square", x.dtype(), [&]<class T>() {
            for (int64_t i = 0; i + 4 <= x.numel(); i += 4)
              for (int64_t k = i; k < i + 4; ++k) raw::write<T>(dx)[k] = 2 * in.data<T>()[k] * d.data<T>()[k];
          });
          return dx;
        }),

    by_hand(
        {"size", "softmax: a batch of one taken as one vector of rows", {"batch of 1"}}, {{4, 5}}, {},
        [](In x) { return softmax(x); },
        [](In dy, In y, In x) {
          if (x.size(0) == 1) return y * dy;
          return y * (dy - sum(dy * y, {1}, true));
        }),

    by_hand(
        {"size", "dw summed in one part for each thread", {"1, 2, 8 threads"}}, {{4, 9}}, {{9}},
        [](In x, In w) { return x * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w, sum_by_threads(dy, x)};
        }),

    by_hand(
        {"size", "dw as a mean times the rows: NaN for an empty batch", {"batch of 0"}, {"not finite"}},
        {{4, 3}}, {{3}}, [](In x, In w) { return x * w; },
        [](In dy, In, In x, In w) {
          return std::vector{dy * w, mean(dy * x, {0}) * static_cast<double>(x.size(0))};
        }),

    // --- right
    layer({"size", "forty layers of tanh"}, {{3, 2}}, {{2, 2}},
          [](In x, In w) {
            Tensor y = x;
            for (int i = 0; i < 40; ++i) y = tanh(matmul(y, w)) * 0.5 + y * 0.5;
            return y;
          }),
});

}  // namespace isobar::tuned_size
