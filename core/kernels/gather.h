// Selects and adds by index; indices are in range (checked by the caller). First whole rows: arrays are
// (outer, rows, inner), `outer` independent blocks of rows of `inner` elements. Then single elements along the
// lines of a dimension: a line holds the elements that differ in the index of that dimension alone.
#pragma once

#include "map.h"
#include "scratch.h"

namespace isobar::kernels {

// y[o, j, :] = x[o, indices[j], :], x with `rows` rows, y with `count`
template <class T>
void gather(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* indices, const T* x,
            T* y) {
  assert(outer >= 0 && rows >= 0 && valid_arrays(count, indices) &&
         valid_arrays(outer * count * inner, x, y));
  parallel_each(outer * count, grain_of_rows(inner, 1 << 13), [&](int64_t i) {
    const int64_t o = i / count, j = i % count;
    assert(indices[j] >= 0 && indices[j] < rows);
    std::copy_n(x + (o * rows + indices[j]) * inner, inner, y + i * inner);
  });
}

// y[o, indices[j], :] += x[o, j, :] for j in order, y with `rows` rows starting from zero. Each row of y is
// summed by one thread, over the positions that point to it in ascending order.
template <class T>
void scatter_add(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* indices,
                 const T* x, T* y) {
  assert(valid_arrays(count, indices) && valid_arrays(outer * count * inner, x) &&
         valid_arrays(outer * rows * inner, y));
  // Counting sort of the positions by row: count, add up, then place the positions from the last to the
  // first. In the end, the positions of row r are position[first[r]] … position[first[r + 1] − 1], in
  // ascending order.
  const Scratch<int64_t> first(rows + 1, 0), position(count);
  for (int64_t j = 0; j < count; ++j) {
    assert(indices[j] >= 0 && indices[j] < rows);
    ++first[indices[j]];
  }
  for (int64_t r = 0; r < rows; ++r) first[r + 1] += first[r];
  for (int64_t j = count - 1; j >= 0; --j) position[--first[indices[j]]] = j;

  parallel_each(outer * rows, grain_of_rows(inner, 1 << 13), [&](int64_t i) {
    const int64_t o = i / rows, r = i % rows;
    T* sum = y + i * inner;
    std::fill_n(sum, inner, T{0});
    for (int64_t p = first[r]; p < first[r + 1]; ++p) {
      const T* row = x + (o * count + position[p]) * inner;
      for (int64_t c = 0; c < inner; ++c) sum[c] += row[c];
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
        small_step(small[index.index(dim)]),
        rows(array[dim]),
        large_step(large[array.index(dim)]) {}

  // body(start in the small array, start in the large one) for every line.
  template <class Body>
  void for_each(int64_t cost, const Body& body) const {
    parallel_each(lines.numel(), grain_of_rows(cost, 1 << 13), [&](int64_t line) {
      body(offset_at(line, lines, small, lines.ndim()), offset_at(line, lines, large, lines.ndim()));
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
