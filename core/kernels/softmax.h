// Softmax and cross-entropy over the rows of a matrix x (N, V). exp is taken only after the row's maximum has
// been subtracted; sums accumulate in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "reduce.h"
#include "vmath.h"

namespace isobar::kernels {

inline int64_t row_grain(int64_t columns) {
  return std::max<int64_t>(1, map_grain / std::max<int64_t>(columns, 1));
}

// The largest of n elements; −∞ for none. A NaN is passed over here: it comes back through the sum.
template <class T>
T row_max(int64_t n, const T* x) {
  T best[lanes];
  std::fill_n(best, lanes, -std::numeric_limits<T>::infinity());
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (int l = 0; l < lanes; ++l) best[l] = x[i + l] > best[l] ? x[i + l] : best[l];
  for (int l = 0; i < n; ++i, ++l) best[l] = x[i] > best[l] ? x[i] : best[l];
  return *std::max_element(best, best + lanes);
}

// e[i] = exp(x[i] − max); returns Σ e.
template <class T>
double shifted_exp(int64_t n, const T* x, T max, T* e) {
  vmap_serial(
      n, e, [=](auto v) { return xsimd::exp(v - max); }, x);
  return lane_sum(n, [=](int64_t i) { return e[i]; });
}

// p = softmax(x) of each row.
template <class T>
void softmax(int64_t rows, int64_t columns, const T* x, T* p) {
  parallel_for(rows, row_grain(columns), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* row = p + r * columns;
      const double sum = shifted_exp(columns, x + r * columns, row_max(columns, x + r * columns), row);
      const T scale = static_cast<T>(1 / sum);
      for (int64_t i = 0; i < columns; ++i) row[i] *= scale;
    }
  });
}

// dx = p · (dy − Σ dy · p)
template <class T>
void softmax_backward(int64_t rows, int64_t columns, const T* p, const T* dy, T* dx) {
  parallel_for(rows, row_grain(columns), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T *pr = p + r * columns, *dr = dy + r * columns;
      const T dot = static_cast<T>(lane_sum(columns, [=](int64_t i) { return dr[i] * pr[i]; }));
      for (int64_t i = 0; i < columns; ++i) dx[r * columns + i] = pr[i] * (dr[i] - dot);
    }
  });
}

// y = x − log Σ exp(x) of each row.
template <class T>
void log_softmax(int64_t rows, int64_t columns, const T* x, T* y) {
  parallel_for(rows, row_grain(columns), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* row = x + r * columns;
      const T max = row_max(columns, row);
      const double sum = shifted_exp(columns, row, max, y + r * columns);
      const T shift = static_cast<T>(static_cast<double>(max) + std::log(sum));
      for (int64_t i = 0; i < columns; ++i) y[r * columns + i] = row[i] - shift;
    }
  });
}

// dx = dy − exp(y) Σ dy
template <class T>
void log_softmax_backward(int64_t rows, int64_t columns, const T* y, const T* dy, T* dx) {
  parallel_for(rows, row_grain(columns), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* dr = dy + r * columns;
      const T total = static_cast<T>(lane_sum(columns, [=](int64_t i) { return dr[i]; }));
      vmap_serial(
          columns, dx + r * columns, [=](auto v, auto d) { return d - xsimd::exp(v) * total; },
          y + r * columns, dr);
    }
  });
}

// loss[r] = log Σ exp(x) − x[target], 0 where target is negative (ignored); log_sum[r] is kept for backward.
template <class T>
void cross_entropy(int64_t rows, int64_t columns, const T* x, const int64_t* target, double* loss,
                   T* log_sum) {
  parallel_for(rows, row_grain(columns), [=](int64_t begin, int64_t end) {
    std::vector<T> scratch(columns);
    for (int64_t r = begin; r < end; ++r) {
      loss[r] = 0;
      if (target[r] < 0) continue;
      const T* row = x + r * columns;
      const T max = row_max(columns, row);
      const double sum = shifted_exp(columns, row, max, scratch.data());
      const double log_of_sum = static_cast<double>(max) + std::log(sum);
      log_sum[r] = static_cast<T>(log_of_sum);
      loss[r] = log_of_sum - static_cast<double>(row[target[r]]);
    }
  });
}

// dx = scale · (softmax(x) − onehot(target)); rows of ignored targets are 0.
template <class T>
void cross_entropy_backward(int64_t rows, int64_t columns, const T* x, const int64_t* target,
                            const T* log_sum, T scale, T* dx) {
  parallel_for(rows, row_grain(columns), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* row = dx + r * columns;
      if (target[r] < 0) {
        std::fill_n(row, columns, T{0});
        continue;
      }
      vmap_serial(
          columns, row, [=, shift = log_sum[r]](auto v) { return xsimd::exp(v - shift) * scale; },
          x + r * columns);
      row[target[r]] -= scale;
    }
  });
}

}  // namespace isobar::kernels
