// Selects rows by index, and adds rows by index. Arrays are (outer, rows, inner): `outer` independent blocks
// of rows of `inner` elements. Indices are in range (checked by the caller).
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
  const int64_t grain = std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(inner, 1));
  parallel_for(outer * count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / count, j = i % count;
      assert(indices[j] >= 0 && indices[j] < rows);
      std::copy_n(x + (o * rows + indices[j]) * inner, inner, y + i * inner);
    }
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

  const int64_t grain = std::max<int64_t>(1, (1 << 13) / std::max<int64_t>(inner, 1));
  parallel_for(outer * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / rows, r = i % rows;
      T* sum = y + i * inner;
      std::fill_n(sum, inner, T{0});
      for (int64_t p = first[r]; p < first[r + 1]; ++p) {
        const T* row = x + (o * count + position[p]) * inner;
        for (int64_t c = 0; c < inner; ++c) sum[c] += row[c];
      }
    }
  });
}

}  // namespace isobar::kernels
