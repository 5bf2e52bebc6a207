// LayerNorm and RMSNorm over the rows of x (N, C), forward and backward. weight and bias (C) may be null.
//
// Each row is read from memory once in forward and once in backward: further passes over it find it in the
// first-level cache. Statistics accumulate in double; weight gradients are summed per fixed chunk of rows, in
// the pass that reads the row anyway, then in chunk order.
#pragma once

#include <cmath>

#include "row.h"
#include "scratch.h"
#include "squares.h"

namespace isobar::kernels {

// Sums over rows, such as dweight: one line of C numbers per chunk of rows, starting at zero.
template <class T>
class ChunkSums {
 public:
  ChunkSums(int64_t rows, int64_t width, bool wanted)
      : columns(width),
        grain(column_grain(rows, columns)),
        chunks(wanted ? chunk_count(rows, grain) : 0),
        sums_(chunks * columns) {}

  // The line of the chunk that starts at this row, set to zero; null where no sums are wanted.
  T* line(int64_t begin) {
    if (chunks == 0) return nullptr;
    T* sums = sums_.data() + begin / grain * columns;
    std::fill_n(sums, columns, T{0});
    return sums;
  }

  // total[c] = Σ over chunks, in order.
  void combine(T* total) const {
    if (total == nullptr) return;
    constexpr int64_t block = 64;  // columns at a time
    parallel_each(chunk_count(columns, block), grain_of_rows(chunks * block, reduce_grain),
                  [=, this](int64_t b) {
                    const int64_t first = b * block, count = std::min<int64_t>(block, columns - first);
                    double sum[block] = {};
                    for (int64_t chunk = 0; chunk < chunks; ++chunk)
                      for (int64_t i = 0; i < count; ++i)
                        sum[i] += static_cast<double>(sums_[chunk * columns + first + i]);
                    for (int64_t i = 0; i < count; ++i) total[first + i] = static_cast<T>(sum[i]);
                  });
  }

  const int64_t columns, grain, chunks;

 private:
  Scratch<T> sums_;
};

// h = (x − mean) · r with r = 1/√(var + eps), y = h · weight + bias. mean and r (N) are kept for backward.
// With m, the mean rounded to T, h is (x − m) · r − (mean − m) · r: far from zero the rounding of the mean
// would be seen in y. With `centred` false the mean is left out: RMSNorm, whose r = 1/√(mean x² + eps) is
// taken over the first `counted` columns.
template <class T>
struct NormForward {
  int64_t rows, columns, counted;
  bool centred;
  double eps;
  const T *x, *weight, *bias;
  T* y;
  double *mean, *r;

  void operator()() const {
    assert(valid_arrays(rows * columns, x, y) && valid_arrays(rows, mean, r) &&
           identical_or_disjoint(rows * columns, x, y));
    assert(counted >= 0 && counted <= columns && (bias == nullptr || weight != nullptr || columns == 0));
    const Store how = store_for(rows * columns, columns, y, x);
    parallel_for(rows, grain_of_rows(columns, reduce_grain), [=, this](int64_t begin, int64_t end) {
      centred ? chunk<true>(begin, end, how) : chunk<false>(begin, end, how);
      finish_stores(how);
    });
  }

 private:
  // r of a row whose squares leave the range of doubles.
  [[gnu::noinline]] double scaled_r(const T* xr, double m) const {
    const auto off = [xr, m](int64_t i) { return static_cast<double>(xr[i]) - m; };
    const double scale = scale_for(std::max(largest_of(counted, off), std::sqrt(eps)));
    const double sum = lane_sum(counted, [&](int64_t i) { return off(i) * scale * (off(i) * scale); });
    return scale / std::sqrt(sum / static_cast<double>(counted) + eps * scale * scale);
  }

  // First pass: the mean; if not centred, the squares.
  template <bool with_mean>
  void read(auto io, const T* xr, int64_t i, LaneSums<T>& sums) const {
    fetch_ahead(xr + i);
    if constexpr (with_mean)
      sums.add(io.load(xr + i), i);
    else
      sums.add_squares(io.load(xr + i), i);
  }

  // Third pass: the output of row n, whose mean rounds to m.
  void write(auto io, int64_t n, T m, Vec<T> scale, Vec<T> shift, int64_t i, Store how) const {
    Vec<T> h = fma(io.load(x + n * columns + i) - m, scale, shift);
    if (weight != nullptr) h = h * io.load(weight + i);
    if (bias != nullptr) h = h + io.load(bias + i);
    io.store(h, y + n * columns + i, how);
  }

  // Rows begin … end. The third pass of a row is one loop with the first of the next: memory is busy all the time, and
  // the sums, which wait for each other, run beside what does not.
  template <bool with_mean>
  [[gnu::flatten]] void chunk(int64_t begin, int64_t end, Store how) const {
    const NormForward own = *this;  // a copy, which no store can change
    const int64_t summed = with_mean ? own.columns : own.counted;
    LaneSums<T> sums;
    for_registers<T>(
        summed, [&](auto io, int64_t i) { own.read<with_mean>(io, own.x + begin * own.columns, i, sums); });
    for (int64_t n = begin; n < end; ++n) {
      const T* xr = own.x + n * own.columns;
      double centre = 0;
      if constexpr (with_mean) centre = sums.total() / static_cast<double>(own.columns);
      // Second pass: the squares around the mean as it rounds to T, corrected for that rounding.
      const T m = static_cast<T>(centre);
      if constexpr (with_mean) {
        sums = LaneSums<T>();
        for_registers<T>(own.counted,
                         [&](auto io, int64_t i) { sums.add_squares(io.keep(io.load(xr + i) - m), i); });
      }
      const double rounding = centre - static_cast<double>(m);
      mean[n] = centre;
      const double spread = sums.total() / static_cast<double>(own.counted) - rounding * rounding + eps;
      r[n] = 1 / std::sqrt(spread);
      if constexpr (std::is_same_v<T, double>)
        if (!squares_fit(spread)) [[unlikely]]
          r[n] = scaled_r(xr, m);
      const Vec<T> scale = splat<Vec<T>>(static_cast<T>(r[n])),
                   shift = splat<Vec<T>>(static_cast<T>(-(rounding * r[n])));
      sums = LaneSums<T>();
      const bool both = n + 1 < end && summed == own.columns;
      if (both)
        for_registers<T>(own.columns, [&](auto io, int64_t i) {
          own.read<with_mean>(io, xr + own.columns, i, sums);
          own.write(io, n, m, scale, shift, i, how);
        });
      else
        for_registers<T>(own.columns, [&](auto io, int64_t i) { own.write(io, n, m, scale, shift, i, how); });
      if (n + 1 < end && !both)
        for_registers<T>(summed,
                         [&](auto io, int64_t i) { own.read<with_mean>(io, xr + own.columns, i, sums); });
    }
  }
};

// u = dy · weight;  dx = r (u − mean(u) − h mean(u h)), without mean(u) when not centred, and with h's term
// over the first `counted` columns only;  dweight = Σ dy h;  dbias = Σ dy. Any of the three results may be
// null. dx may be dy.
template <class T>
struct NormBackward {
  int64_t rows, columns, counted;
  bool centred;
  const T *x, *weight, *dy;
  const double *mean, *r;
  T *dx, *dweight, *dbias;

  void operator()() const {
    assert(valid_arrays(rows * columns, x, dy) && valid_arrays(rows, mean, r) && counted >= 0 &&
           counted <= columns);
    assert(dx == nullptr || identical_or_disjoint(rows * columns, dy, dx));
    ChunkSums<T> weight_sums(rows, columns, dweight != nullptr), bias_sums(rows, columns, dbias != nullptr);
    const Store how = store_for(rows * columns, columns, dx, dy);
    parallel_for(rows, weight_sums.grain, [&](int64_t begin, int64_t end) {
      T *dw = weight_sums.line(begin), *db = bias_sums.line(begin);
      for (int64_t n = begin; n < end; ++n) row(n, dw, db, how);
      finish_stores(how);
    });
    weight_sums.combine(dweight);
    bias_sums.combine(dbias);
  }

 private:
  [[gnu::flatten]] void row(int64_t n, T* dw, T* db, Store how) const {
    const T *xr = x + n * columns, *dr = dy + n * columns;
    const T m = static_cast<T>(mean[n]), s = static_cast<T>(r[n]);
    const Vec<T> scale = splat<Vec<T>>(s),
                 shift = splat<Vec<T>>(static_cast<T>(-((mean[n] - static_cast<double>(m)) * r[n])));
    const auto h = [=](auto io, int64_t i) { return fma(io.load(xr + i) - m, scale, shift); };
    const auto u = [=, w = weight](auto io, int64_t i) {
      return w == nullptr ? io.load(dr + i) : io.load(dr + i) * io.load(w + i);
    };
    // First pass: the sums over the row, and this row's share of the sums over rows.
    LaneSums<T> sum_u, sum_uh;
    for_registers<T>(columns, [&](auto io, int64_t i) {
      fetch_ahead(xr + i, dr + i);
      const Vec<T> hi = h(io, i), ui = u(io, i);
      if (centred) sum_u.add(ui, i);
      sum_uh.add(io.keep(ui * hi), i);  // h of the zero padding may be infinite
      const Vec<T> d = io.load(dr + i);
      if (dw != nullptr) io.store(io.load(dw + i) + d * hi, dw + i);
      if (db != nullptr) io.store(io.load(db + i) + d, db + i);
    });
    if (dx == nullptr) return;
    const T mean_u = centred ? static_cast<T>(sum_u.total() / static_cast<double>(columns)) : T{0};
    const T mean_uh = static_cast<T>(sum_uh.total() / static_cast<double>(counted));
    // Second pass: dx; the columns from `counted` on do not enter r.
    T* out = dx + n * columns;
    for_registers<T>(counted, [&](auto io, int64_t i) {
      io.store(s * (u(io, i) - mean_u - h(io, i) * mean_uh), out + i, how);
    });
    for_registers<T>(columns - counted, [&](auto io, int64_t i) {
      io.store(s * (u(io, counted + i) - mean_u), out + counted + i);
    });
  }
};

}  // namespace isobar::kernels
