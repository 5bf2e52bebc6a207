// The elementwise stand-ins for normalization: y = t(x; p) · weight + bias over the rows of x (N, C), where t
// squashes every element alone and p is one learned number. A curve gives t and its two slopes on vector
// registers:
//
//   DyT           t = tanh(p x)                   dt/dx = (1 − t²) p      dt/dp = (1 − t²) x
//   DyT with √d   t = √d s, s = tanh(p x / √d)    dt/dx = (1 − s²) p      dt/dp = (1 − s²) x
//   DyISRU        t = √d x q, q = (x² + eᵖ)^−½    dt/dx = √d eᵖ q³        dt/dp = −½ √d x eᵖ q³
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "norm.h"
#include "vmath.h"

namespace isobar::kernels {

// t and its slopes at one register of x.
template <class T>
struct CurvePoint {
  Batch<T> t, dx, dp;
};

template <class T>
struct DytCurve {
  T alpha;
  Batch<T> value(const Batch<T>& x) const { return xsimd::tanh(x * alpha); }
  CurvePoint<T> point(const Batch<T>& x) const {
    const Batch<T> t = value(x), slope = Batch<T>(1) - t * t;
    return {t, slope * alpha, slope * x};
  }
};

template <class T>
struct DytSqrtdCurve {
  T inv_rho, sqrt_d;
  Batch<T> squashed(const Batch<T>& x) const { return xsimd::tanh(x * (inv_rho / sqrt_d)); }
  Batch<T> value(const Batch<T>& x) const { return squashed(x) * sqrt_d; }
  CurvePoint<T> point(const Batch<T>& x) const {
    const Batch<T> s = squashed(x), slope = Batch<T>(1) - s * s;
    return {s * sqrt_d, slope * inv_rho, slope * x};
  }
};

template <class T>
struct DyisruCurve {
  T c, sqrt_d;
  Batch<T> inverse_root(const Batch<T>& x) const { return Batch<T>(1) / xsimd::sqrt(x * x + c); }
  Batch<T> value(const Batch<T>& x) const { return x * inverse_root(x) * sqrt_d; }
  CurvePoint<T> point(const Batch<T>& x) const {
    const Batch<T> q = inverse_root(x), cubed = q * q * q * (sqrt_d * c);
    return {x * q * sqrt_d, cubed, x * cubed * T(-0.5)};
  }
};

// y = t(x) · weight + bias; weight and bias (C) may be null.
template <class T, class Curve>
void pointwise_norm(int64_t rows, int64_t columns, const Curve& curve, const T* x, const T* weight,
                    const T* bias, T* y) {
  parallel_for(rows, std::max<int64_t>(1, map_grain / std::max<int64_t>(columns, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t n = begin; n < end; ++n) {
                   T* row = y + n * columns;
                   vmap_serial(
                       columns, row, [&](auto v) { return curve.value(v); }, x + n * columns);
                   if (weight != nullptr)
                     for (int64_t i = 0; i < columns; ++i) row[i] *= weight[i];
                   if (bias != nullptr)
                     for (int64_t i = 0; i < columns; ++i) row[i] += bias[i];
                 }
               });
}

// u = dy · weight;  dx = u dt/dx;  *dp = Σ u dt/dp;  dweight = Σ dy t;  dbias = Σ dy. dweight and dbias may
// be null.
template <class T, class Curve>
void pointwise_norm_backward(int64_t rows, int64_t columns, const Curve& curve, const T* x, const T* weight,
                             const T* dy, T* dx, double* dp, T* dweight, T* dbias) {
  ChunkSums<T> weight_sums(rows, columns, dweight != nullptr), bias_sums(rows, columns, dbias != nullptr);
  std::vector<double> dp_sums(chunk_count(rows, weight_sums.grain));
  parallel_for(rows, weight_sums.grain, [&](int64_t begin, int64_t end) {
    T *dw = weight_sums.line(begin), *db = bias_sums.line(begin);
    std::vector<T> t(columns), slope_p(columns);
    double dp_sum = 0;
    for (int64_t n = begin; n < end; ++n) {
      const T *xr = x + n * columns, *dr = dy + n * columns;
      T* out = dx + n * columns;
      // First pass: the curve's value and slopes.
      for (int64_t i = 0; i < columns; i += width<T>) {
        const int64_t count = std::min(width<T>, columns - i);
        const CurvePoint<T> point = curve.point(load_part(xr + i, count));
        store_part(point.t, t.data() + i, count);
        store_part(point.dx, out + i, count);
        store_part(point.dp, slope_p.data() + i, count);
      }
      // Second pass: the gradients.
      const auto u = [=](int64_t i) { return weight == nullptr ? dr[i] : dr[i] * weight[i]; };
      dp_sum += lane_sum(columns, [&](int64_t i) { return u(i) * slope_p[i]; });
      for (int64_t i = 0; i < columns; ++i) out[i] *= u(i);
      if (dw != nullptr)
        for (int64_t i = 0; i < columns; ++i) dw[i] += dr[i] * t[i];
      if (db != nullptr)
        for (int64_t i = 0; i < columns; ++i) db[i] += dr[i];
    }
    dp_sums[begin / weight_sums.grain] = dp_sum;
  });
  *dp = lane_sum(static_cast<int64_t>(dp_sums.size()), [&](int64_t i) { return dp_sums[i]; });
  weight_sums.combine(dweight);
  bias_sums.combine(dbias);
}

}  // namespace isobar::kernels
