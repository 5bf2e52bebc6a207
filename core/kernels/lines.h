// Loops over the lines of an array along one dimension: all elements that differ in that index alone. Arrays
// are contiguous; a line's elements stand `step` apart. Each line belongs to one thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../parallel.h"

namespace isobar::kernels {

// y[i] = Σ x[j] over j ≤ i in each line of n elements, added in this order in double. Both arrays are
// (outer, n, inner).
template <class T>
void cumulative_sums(int64_t outer, int64_t n, int64_t inner, const T* x, T* y) {
  const int64_t grain = std::max<int64_t>(1, (1 << 14) / std::max<int64_t>(n, 1));
  parallel_for(outer * inner, grain, [=](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t start = line / inner * n * inner + line % inner;
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        sum += static_cast<double>(x[start + i * inner]);
        y[start + i * inner] = static_cast<T>(sum);
      }
    }
  });
}

}  // namespace isobar::kernels
