// LayerNorm and RMSNorm over the rows of x (N, C), forward and backward. weight and bias (C) may be null.
//
// Each row is read twice forward (statistics, then output) and twice backward; rows of usual width stay in
// the first-level cache, so memory sees one pass. Statistics accumulate in double; weight gradients are
// summed per fixed chunk of rows, then in chunk order.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "reduce.h"

namespace isobar::kernels {

// Sums of dweight and dbias, one line of C numbers per chunk of rows.
template <class T>
struct ChunkSums {
  ChunkSums(int64_t rows, int64_t width, bool wanted)
      : columns(width),
        grain(column_grain(rows, columns)),
        chunks(wanted ? chunk_count(rows, grain) : 0),
        sums(chunks * columns) {}

  // The line of the chunk that starts at this row, or null.
  T* line(int64_t begin) { return chunks > 0 ? sums.data() + begin / grain * columns : nullptr; }

  // total[c] = Σ over chunks
  void combine(T* total) const {
    if (total == nullptr) return;
    for (int64_t c = 0; c < columns; ++c) {
      double sum = 0;
      for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += static_cast<double>(sums[chunk * columns + c]);
      total[c] = static_cast<T>(sum);
    }
  }

  const int64_t columns, grain, chunks;
  std::vector<T> sums;
};

// h = (x − mean) · r with r = 1/√(var + eps), y = h · weight + bias. mean and r (N) are kept for backward.
// With `centred` false the mean is left out: RMSNorm, whose r = 1/√(mean x² + eps) is taken over the first
// `counted` columns.
template <class T>
struct NormForward {
  int64_t rows, columns, counted;
  bool centred;
  double eps;
  const T *x, *weight, *bias;
  T* y;
  double *mean, *r;

  void operator()() const {
    parallel_for(rows, std::max<int64_t>(1, reduce_grain / std::max<int64_t>(columns, 1)),
                 [this](int64_t begin, int64_t end) {
                   for (int64_t n = begin; n < end; ++n) row(n);
                 });
  }

 private:
  void row(int64_t n) const {
    const T* xr = x + n * columns;
    // First pass: the statistics, the variance around the mean just found.
    const double c = static_cast<double>(counted);
    const double centre = centred ? lane_sum(columns, [=](int64_t i) { return xr[i]; }) / c : 0;
    const double spread = lane_sum(counted, [=](int64_t i) {
      const double d = static_cast<double>(xr[i]) - centre;
      return d * d;
    });
    mean[n] = centre;
    r[n] = 1 / std::sqrt(spread / c + eps);
    // Second pass: the output.
    const T m = static_cast<T>(centre), s = static_cast<T>(r[n]);
    T* yr = y + n * columns;
    if (weight == nullptr)
      for (int64_t i = 0; i < columns; ++i) yr[i] = (xr[i] - m) * s;
    else if (bias == nullptr)
      for (int64_t i = 0; i < columns; ++i) yr[i] = (xr[i] - m) * s * weight[i];
    else
      for (int64_t i = 0; i < columns; ++i) yr[i] = (xr[i] - m) * s * weight[i] + bias[i];
  }
};

// u = dy · weight;  dx = r (u − mean(u) − h mean(u h)), without mean(u) when not centred, and with h's term
// over the first `counted` columns only;  dweight = Σ dy h;  dbias = Σ dy. Any of the three results may be
// null.
template <class T>
struct NormBackward {
  int64_t rows, columns, counted;
  bool centred;
  const T *x, *weight, *dy;
  const double *mean, *r;
  T *dx, *dweight, *dbias;

  void operator()() const {
    ChunkSums<T> weight_sums(rows, columns, dweight != nullptr), bias_sums(rows, columns, dbias != nullptr);
    parallel_for(rows, weight_sums.grain, [&](int64_t begin, int64_t end) {
      T *dw = weight_sums.line(begin), *db = bias_sums.line(begin);
      for (int64_t n = begin; n < end; ++n) row(n, dw, db);
    });
    weight_sums.combine(dweight);
    bias_sums.combine(dbias);
  }

 private:
  void row(int64_t n, T* dw, T* db) const {
    const T *xr = x + n * columns, *dr = dy + n * columns;
    const T m = static_cast<T>(mean[n]), s = static_cast<T>(r[n]);
    if (dw != nullptr)
      for (int64_t i = 0; i < columns; ++i) dw[i] += dr[i] * ((xr[i] - m) * s);
    if (db != nullptr)
      for (int64_t i = 0; i < columns; ++i) db[i] += dr[i];
    if (dx == nullptr) return;
    // First pass: the two means.
    const auto u = [=, w = weight](int64_t i) { return w == nullptr ? dr[i] : dr[i] * w[i]; };
    const T mean_u = centred ? static_cast<T>(lane_sum(columns, u) / static_cast<double>(columns)) : T{0};
    const T mean_uh = static_cast<T>(lane_sum(columns, [=](int64_t i) { return u(i) * ((xr[i] - m) * s); }) /
                                     static_cast<double>(counted));
    // Second pass: dx; the columns past `counted` do not reach r.
    T* out = dx + n * columns;
    for (int64_t i = 0; i < counted; ++i) out[i] = s * (u(i) - mean_u - (xr[i] - m) * s * mean_uh);
    for (int64_t i = counted; i < columns; ++i) out[i] = s * (u(i) - mean_u);
  }
};

}  // namespace isobar::kernels
