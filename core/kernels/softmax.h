// Softmax and cross-entropy over the rows of a matrix x (N, V). exp is taken only after the row's maximum has
// been subtracted; sums accumulate in double.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "row.h"
#include "scratch.h"

namespace isobar::kernels {

inline int64_t row_grain(int64_t columns) { return grain_of_rows(columns, map_grain); }

// The largest of n elements, −∞ for n = 0. A NaN may be skipped here: the sum of exponentials shows it.
template <class T>
T row_max(int64_t n, const T* x) {
  constexpr int64_t w = width<T>, chains = 4;  // a maximum takes several cycles: four run side by side
  Vec<T> best[chains];
  std::fill_n(best, chains, splat<Vec<T>>(-std::numeric_limits<T>::infinity()));
  int64_t i = 0;
  for (; i + chains * w <= n; i += chains * w)
    for (int64_t k = 0; k < chains; ++k) best[k] = max(best[k], load(x + i + k * w));
  for (; i + w <= n; i += w) best[0] = max(best[0], load(x + i));
  T each[w];
  store(max(max(best[0], best[1]), max(best[2], best[3])), each);
  for (int l = 0; i < n; ++i, ++l) each[l] = x[i] > each[l] ? x[i] : each[l];
  return *std::max_element(each, each + w);
}

// Σ exp(x[i] − max); e[i] = exp(x[i] − max) where e is not null. Fetches the row after the next. What else is to be done
// register by register, `beside`(io, i), runs in the same loop.
template <class T, class Beside>
[[gnu::flatten]] double shifted_exp(int64_t n, const T* x, T max, T* e, const Beside& beside) {
  LaneSums<T> sum;
  for_registers<T>(n, [&](auto io, int64_t i) {
    fetch_ahead(x + n + i);
    const Vec<T> v = kernels::exp(io.load(x + i) - max);
    if (e != nullptr) io.store(v, e + i);
    sum.add(io.keep(v), i);
    beside(io, i);
  });
  return sum.total();
}
template <class T>
double shifted_exp(int64_t n, const T* x, T max, T* e) {
  return shifted_exp(n, x, max, e, [](auto, int64_t) {});
}

// p = softmax(x) of each row. A row is stored while the exponentials of the next are computed: memory is busy all the time.
template <class T>
void softmax(int64_t rows, int64_t columns, const T* x, T* p) {
  assert(valid_arrays(rows * columns, x, p) && identical_or_disjoint(rows * columns, x, p));
  const Store how = store_for(rows * columns, columns, p, x);
  parallel_for(
      rows, row_grain(columns), [=](int64_t begin, int64_t end) __attribute__((flatten)) {
        const Scratch<T> even(columns), odd(columns);
        T *e = even.data(), *next = odd.data();
        double sum = shifted_exp(columns, x + begin * columns, row_max(columns, x + begin * columns), e);
        for (int64_t r = begin; r < end; ++r) {
          const T scale = static_cast<T>(1 / sum);
          T* out = p + r * columns;
          const auto write = [=](auto io, int64_t i) { io.store(io.load(e + i) * scale, out + i, how); };
          if (r + 1 == end) {
            for_registers<T>(columns, write);
            break;
          }
          const T* row = x + (r + 1) * columns;
          sum = shifted_exp(columns, row, row_max(columns, row), next, write);
          std::swap(e, next);
        }
        finish_stores(how);
      });
}

// dx = p · (dy − Σ dy · p); dx may be dy.
template <class T>
void softmax_backward(int64_t rows, int64_t columns, const T* p, const T* dy, T* dx) {
  assert(valid_arrays(rows * columns, p, dy, dx) && identical_or_disjoint(rows * columns, dy, dx));
  const Store how = store_for(rows * columns, columns, dx, dy);
  parallel_for(
      rows, row_grain(columns), [=](int64_t begin, int64_t end) __attribute__((flatten)) {
        for (int64_t r = begin; r < end; ++r) {
          const T *pr = p + r * columns, *dr = dy + r * columns;
          T* out = dx + r * columns;
          LaneSums<T> sum;
          for_registers<T>(columns, [&](auto io, int64_t i) {
            fetch_ahead(pr + i, dr + i);
            sum.add(io.load(dr + i) * io.load(pr + i), i);
          });
          const T dot = static_cast<T>(sum.total());
          for_registers<T>(columns, [&](auto io, int64_t i) {
            io.store(io.load(pr + i) * (io.load(dr + i) - dot), out + i, how);
          });
        }
        finish_stores(how);
      });
}

// y = (x − max) − log Σ exp(x − max) of each row. The two terms are subtracted one after the other: their sum
// would round at the size of the maximum, not of y.
template <class T>
void log_softmax(int64_t rows, int64_t columns, const T* x, T* y) {
  assert(valid_arrays(rows * columns, x, y) && identical_or_disjoint(rows * columns, x, y));
  parallel_each(rows, row_grain(columns), [=](int64_t r) {
    const T* row = x + r * columns;
    const T max = row_max(columns, row);
    const double sum = shifted_exp<T>(columns, row, max, nullptr);
    const T log_sum = static_cast<T>(kernels::log(sum));
    map_registers_serial(
        columns, y + r * columns, [=](auto v) { return (v - max) - log_sum; }, row);
  });
}

// dx = dy − exp(y) Σ dy; dx may be dy.
template <class T>
void log_softmax_backward(int64_t rows, int64_t columns, const T* y, const T* dy, T* dx) {
  assert(valid_arrays(rows * columns, y, dy, dx) && identical_or_disjoint(rows * columns, dy, dx));
  parallel_for(
      rows, row_grain(columns), [=](int64_t begin, int64_t end) __attribute__((flatten)) {
        for (int64_t r = begin; r < end; ++r) {
          const T* dr = dy + r * columns;
          LaneSums<T> sum;
          for_registers<T>(columns, [&](auto io, int64_t i) { sum.add(io.load(dr + i), i); });
          const T total = static_cast<T>(sum.total());
          map_registers_serial(
              columns, dx + r * columns, [=](auto v, auto d) { return d - kernels::exp(v) * total; },
              y + r * columns, dr);
        }
      });
}

// loss[r] = log Σ exp(x) − x[target], and the gradient of Σ scale · loss, dx = scale · (softmax(x) −
// onehot(target)), while the row is in cache; dx may be null, or x. Loss and gradient of a row are 0 where
// its target is negative (ignored).
template <class T>
void cross_entropy(int64_t rows, int64_t columns, const T* x, const int64_t* target, T scale, double* loss,
                   T* dx) {
  assert(valid_arrays(rows * columns, x) && valid_arrays(rows, target, loss));
  assert(dx == nullptr || identical_or_disjoint(rows * columns, x, dx));
  parallel_each(rows, row_grain(columns), [=](int64_t r) {
    assert(target[r] < columns);
    const T* row = x + r * columns;
    T* dr = dx != nullptr ? dx + r * columns : nullptr;
    loss[r] = 0;
    if (target[r] < 0) {
      if (dr != nullptr) std::fill_n(dr, columns, T{0});
      return;
    }
    const T max = row_max(columns, row), chosen = row[target[r]];
    const double sum = shifted_exp(columns, row, max, dr);
    loss[r] = (static_cast<double>(max) - static_cast<double>(chosen)) + kernels::log(sum);
    if (dr == nullptr) return;
    const T factor = static_cast<T>(static_cast<double>(scale) / sum);
    map_registers_serial(
        columns, dr, [=](auto v) { return v * factor; }, dr);
    dr[target[r]] -= scale;
  });
}

}  // namespace isobar::kernels
