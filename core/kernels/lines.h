// Loops over the lines of an array along one dimension. A line holds the elements that differ in the index of
// that dimension alone. Arrays are contiguous; a line's elements are `step` apart. One thread takes each
// line.
#pragma once

#include "../parallel.h"
#include "../shape.h"
#include "scratch.h"

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

// The lines along dimension `dim` of an array of indices (small) and of the array that they index (large).
// Two lines that belong together agree in all other indices.
struct IndexedLines {
  Shape lines;                // the array of indices, extent one along dim
  Strides small, large;       // of the two arrays
  int64_t count, small_step;  // indices in a line
  int64_t rows, large_step;   // elements in a line of the large array

  IndexedLines(const Shape& index, const Shape& array, int dim)
      : lines(index.with(dim, 1)),
        small(index.strides()),
        large(array.strides()),
        count(index[dim]),
        small_step(small[dim]),
        rows(array[dim]),
        large_step(large[dim]) {}

  // body(start in the small array, start in the large one) for every line.
  template <class Body>
  void for_each(int64_t cost, const Body& body) const {
    parallel_for(lines.numel(), std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(cost, 1)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t line = begin; line < end; ++line) {
                     int64_t rest = line, at_small = 0, at_large = 0;
                     for (int d = lines.ndim() - 1; d >= 0; --d) {
                       at_small += rest % lines[d] * small[d];
                       at_large += rest % lines[d] * large[d];
                       rest /= lines[d];
                     }
                     body(at_small, at_large);
                   }
                 });
  }
};

// y[j] = x[index[j]] in every line; y has the shape of index.
template <class T>
void gather_lines(const IndexedLines& at, const int64_t* index, const T* x, T* y) {
  at.for_each(at.count, [&](int64_t small, int64_t large) {
    for (int64_t j = small; j < small + at.count * at.small_step; j += at.small_step)
      y[j] = x[large + index[j] * at.large_step];
  });
}

// y[index[j]] += x[j] for j in order in every line, in double; x has the shape of index.
template <class T>
void scatter_add_lines(const IndexedLines& at, const int64_t* index, const T* x, T* y) {
  at.for_each(at.count + at.rows, [&](int64_t small, int64_t large) {
    const Scratch<double> sum(at.rows);
    for (int64_t r = 0; r < at.rows; ++r) sum[r] = static_cast<double>(y[large + r * at.large_step]);
    for (int64_t j = small; j < small + at.count * at.small_step; j += at.small_step)
      sum[index[j]] += static_cast<double>(x[j]);
    for (int64_t r = 0; r < at.rows; ++r) y[large + r * at.large_step] = static_cast<T>(sum[r]);
  });
}

}  // namespace isobar::kernels
