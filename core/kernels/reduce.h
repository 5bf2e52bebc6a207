// Sums in a fixed order. Terms accumulate in double in sixteen lanes, whatever the vector width of the
// machine, and the lanes are added as one fixed tree; threads share long arrays in fixed chunks.
#pragma once

#include "../parallel.h"
#include "scratch.h"

namespace isobar::kernels {

inline constexpr int lanes = 16;
inline constexpr int64_t reduce_grain = 1 << 14;  // elements in one chunk of a long sum

inline double add_lanes(const double (&lane)[lanes]) {
  double sum[lanes / 2];
  for (int l = 0; l < 8; ++l) sum[l] = lane[l] + lane[l + 8];
  for (int l = 0; l < 4; ++l) sum[l] += sum[l + 4];
  return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

// Σ term(i) for i in 0 … n − 1, on the calling thread.
template <class Term>
double lane_sum(int64_t n, const Term& term) {
  assert(n >= 0);
  double lane[lanes] = {};
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) lane[l] += static_cast<double>(term(i + l));
  for (int l = 0; i < n; ++i, ++l) lane[l] += static_cast<double>(term(i));
  return add_lanes(lane);
}

// The same on all threads: sums of fixed chunks, added in order.
template <class Term>
double parallel_sum(int64_t n, const Term& term) {
  if (n <= reduce_grain) return lane_sum(n, term);
  const Scratch<double> sums(chunk_count(n, reduce_grain));
  parallel_for(n, reduce_grain, [&](int64_t begin, int64_t end) {
    sums[begin / reduce_grain] = lane_sum(end - begin, [&](int64_t i) { return term(begin + i); });
  });
  return lane_sum(chunk_count(n, reduce_grain), [&](int64_t i) { return sums[i]; });
}

// Calls body(r, sum) for every row r of a (rows, columns); sum(n, term) is Σ term(i) over 0 ≤ i < n. Threads
// share the rows or, where a row is longer than reduce_grain, its terms.
template <class Body>
void for_rows(int64_t rows, int64_t columns, const Body& body) {
  if (columns > reduce_grain) {
    for (int64_t r = 0; r < rows; ++r)
      body(r, [](int64_t n, const auto& term) { return parallel_sum(n, term); });
    return;
  }
  parallel_each(rows, grain_of_rows(columns, reduce_grain),
                [&](int64_t r) { body(r, [](int64_t n, const auto& term) { return lane_sum(n, term); }); });
}

// y[r] = Σ over columns of x (rows, columns)
template <class T>
void row_sums(int64_t rows, int64_t columns, const T* x, T* y) {
  for_rows(rows, columns, [=](int64_t r, const auto& sum) {
    y[r] = static_cast<T>(sum(columns, [row = x + r * columns](int64_t i) { return row[i]; }));
  });
}

// Rows in one chunk of a column sum: enough to amortise its partial sums, the same for any thread count.
inline int64_t column_grain(int64_t rows, int64_t columns) {
  return std::max({int64_t{16}, reduce_grain / std::max<int64_t>(columns, 1), chunk_count(rows, 64)});
}

// y[c] = Σ over rows of x (rows, columns): partial sums per chunk of rows, then combined in chunk order.
template <class T>
void column_sums(int64_t rows, int64_t columns, const T* x, T* y) {
  const int64_t grain = column_grain(rows, columns), chunks = chunk_count(rows, grain);
  const Scratch<double> partial(chunks * columns, 0.0);
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    double* sums = partial.data() + begin / grain * columns;
    for (int64_t r = begin; r < end; ++r)
      for (int64_t c = 0; c < columns; ++c) sums[c] += static_cast<double>(x[r * columns + c]);
  });
  for (int64_t chunk = 1; chunk < chunks; ++chunk)
    for (int64_t c = 0; c < columns; ++c) partial[c] += partial[chunk * columns + c];
  for (int64_t c = 0; c < columns; ++c) y[c] = chunks > 0 ? static_cast<T>(partial[c]) : T{0};
}

// y[i] = Σ x[j] over j ≤ i in each line of n elements, added in this order in double. Both arrays are
// (outer, n, inner).
template <class T>
void cumulative_sums(int64_t outer, int64_t n, int64_t inner, const T* x, T* y) {
  parallel_each(outer * inner, grain_of_rows(n, reduce_grain), [=](int64_t line) {
    const int64_t start = line / inner * n * inner + line % inner;
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      sum += static_cast<double>(x[start + i * inner]);
      y[start + i * inner] = static_cast<T>(sum);
    }
  });
}

}  // namespace isobar::kernels
