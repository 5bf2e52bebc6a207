// Elementwise replacements for normalization: y = t(x; p) · weight + bias over the rows of x (N, C), where t
// maps each element by itself and p is one learned number. A curve computes t and its two slopes on vector
// registers:
//
//   DyT           t = tanh(p x)                   dt/dx = (1 − t²) p      dt/dp = (1 − t²) x
//   DyT with √d   t = √d s, s = tanh(p x / √d)    dt/dx = (1 − s²) p      dt/dp = (1 − s²) x
//   DyISRU        t = √d x q, q = (x² + eᵖ)^−½    dt/dx = √d eᵖ q³        dt/dp = −½ √d x eᵖ q³
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>

#include "norm.h"
#include "vmath.h"

namespace isobar::kernels {

// t and its slopes at one register of x.
template <class T>
struct CurvePoint {
  Register<T> t, dx, dp;
};

template <class T>
struct DytCurve {
  T alpha;
  Register<T> value(const Register<T>& x) const { return kernels::tanh(x * alpha); }
  CurvePoint<T> point(const Register<T>& x) const {
    const Register<T> t = value(x), slope = Register<T>(1) - t * t;
    return {t, slope * alpha, slope * x};
  }
};

template <class T>
struct DytSqrtdCurve {
  T inv_rho, sqrt_d;
  Register<T> squashed(const Register<T>& x) const { return kernels::tanh(x * (inv_rho / sqrt_d)); }
  Register<T> value(const Register<T>& x) const { return squashed(x) * sqrt_d; }
  CurvePoint<T> point(const Register<T>& x) const {
    const Register<T> s = squashed(x), slope = Register<T>(1) - s * s;
    return {s * sqrt_d, slope * inv_rho, slope * x};
  }
};

template <class T>
struct DyisruCurve {
  T c, sqrt_d;
  Register<T> inverse_root(const Register<T>& x) const { return Register<T>(1) / xsimd::sqrt(x * x + c); }
  Register<T> value(const Register<T>& x) const { return x * inverse_root(x) * sqrt_d; }
  CurvePoint<T> point(const Register<T>& x) const {
    const Register<T> q = inverse_root(x), cubed = q * q * q * (sqrt_d * c);
    return {x * q * sqrt_d, cubed, x * cubed * T(-0.5)};
  }
};

// y = t(x) · weight + bias; weight and bias (C) may be null.
template <class T, class Curve>
void pointwise_norm(int64_t rows, int64_t columns, const Curve& curve, const T* x, const T* weight,
                    const T* bias, T* y) {
  assert(given(rows * columns, x, y) && same_or_apart(rows * columns, x, y));
  const Store how = store_for(rows * columns, columns, y, x);
  parallel_for(
      rows, std::max<int64_t>(1, map_grain / std::max<int64_t>(columns, 1)),
      [ =, &curve ](int64_t begin, int64_t end) __attribute__((flatten)) {
        for (int64_t n = begin; n < end; ++n)
          for_registers<T>(columns, [=, &curve](auto io, int64_t i) {
            fetch_ahead(x + n * columns + i);
            Register<T> v = curve.value(io.load(x + n * columns + i));
            if (weight != nullptr) v = v * io.load(weight + i);
            if (bias != nullptr) v = v + io.load(bias + i);
            io.store(v, y + n * columns + i, how);
          });
        finish_stores(how);
      });
}

// u = dy · weight;  dx = u dt/dx;  *dp = Σ u dt/dp;  dweight = Σ dy t;  dbias = Σ dy. dweight and dbias may
// be null; dx may be dy. The curve is computed again, which costs less than reading it from memory.
template <class T, class Curve>
void pointwise_norm_backward(int64_t rows, int64_t columns, const Curve& curve, const T* x, const T* weight,
                             const T* dy, T* dx, double* dp, T* dweight, T* dbias) {
  assert(given(rows * columns, x, dy, dx) && dp != nullptr && same_or_apart(rows * columns, dy, dx));
  ChunkSums<T> weight_sums(rows, columns, dweight != nullptr), bias_sums(rows, columns, dbias != nullptr);
  const int64_t grain = weight_sums.grain;
  const Scratch<double> dp_sums(chunk_count(rows, grain));
  const Store how = store_for(rows * columns, columns, dx, dy);
  parallel_for(
      rows, grain, [&](int64_t begin, int64_t end) __attribute__((flatten)) {
        T *dw = weight_sums.line(begin), *db = bias_sums.line(begin);
        LaneSums<T> dp_sum;
        for (int64_t n = begin; n < end; ++n)
          for_registers<T>(columns, [=, &curve, &dp_sum](auto io, int64_t i) {
            fetch_ahead(x + n * columns + i);
            fetch_ahead(dy + n * columns + i);
            const CurvePoint<T> at = curve.point(io.load(x + n * columns + i));
            const Register<T> d = io.load(dy + n * columns + i);
            const Register<T> u = weight == nullptr ? d : d * io.load(weight + i);
            io.store(u * at.dx, dx + n * columns + i, how);
            dp_sum.add(io.keep(u * at.dp), i);  // a slope at the zero padding may be infinite
            if (dw != nullptr) io.store(io.load(dw + i) + d * at.t, dw + i);
            if (db != nullptr) io.store(io.load(db + i) + d, db + i);
          });
        finish_stores(how);
        dp_sums[begin / grain] = dp_sum.total();
      });
  *dp = lane_sum(chunk_count(rows, grain), [&](int64_t i) { return dp_sums[i]; });
  weight_sums.combine(dweight);
  bias_sums.combine(dbias);
}

}  // namespace isobar::kernels
