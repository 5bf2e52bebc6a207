// Products of floats in WebAssembly by fused multiply-adds, ab + c rounded once, four at a time.
//
// Relaxed SIMD has an instruction for it, which rounds twice on processors without one of their own. Compiled
// without relaxed SIMD it is computed in doubles, with the same bits.
#pragma once

#include <wasm_simd128.h>

namespace isobar::live {

#ifdef __wasm_relaxed_simd__
inline v128_t fused(v128_t a, v128_t b, v128_t c) { return wasm_f32x4_relaxed_madd(a, b, c); }
#else
// Of the two lower floats, as doubles. A product of floats is exact in double. Its sum with c is rounded to
// odd: where it is not exact, to the neighbour whose last bit is 1. Then rounding to float is as if there had
// been one rounding (Boldo and Melquiond 2008, Emulation of FMA and correctly rounded sums).
inline v128_t fused_pair(v128_t a, v128_t b, v128_t c) {
  const v128_t p = wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(a), wasm_f64x2_promote_low_f32x4(b));
  const v128_t q = wasm_f64x2_promote_low_f32x4(c), sum = wasm_f64x2_add(p, q);
  const v128_t of_q = wasm_f64x2_sub(sum, p);  // what of q is in the sum; error: what of p + q is not (Knuth)
  const v128_t error = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(sum, of_q)), wasm_f64x2_sub(q, of_q));
  const v128_t zero = wasm_f64x2_splat(0), one = wasm_i64x2_splat(1);
  const v128_t inexact = wasm_v128_or(wasm_f64x2_lt(error, zero), wasm_f64x2_gt(error, zero));  // no NaN
  const v128_t beyond = wasm_i64x2_shr(wasm_v128_xor(sum, error), 63);  // −1 where |sum| is above |p + q|
  const v128_t odd = wasm_v128_or(wasm_i64x2_add(sum, beyond), one);
  return wasm_f32x4_demote_f64x2_zero(wasm_v128_bitselect(odd, sum, inexact));
}
inline v128_t fused(v128_t a, v128_t b, v128_t c) {
  const auto upper = [](v128_t v) { return wasm_i64x2_shuffle(v, v, 1, 1); };
  return wasm_i64x2_shuffle(fused_pair(a, b, c), fused_pair(upper(a), upper(b), upper(c)), 0, 2);
}
#endif

// `Rows` rows and 8 columns of c += a b, whose rows are `stride` apart; a (M, K) and b (K, N). Every element is
// one chain of fused multiply-adds in the order of K.
template <int Rows>
inline void tile(const float* a, const float* b, float* c, int k, int stride) {
  v128_t sum[Rows][2];
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < 2; ++v) sum[r][v] = wasm_v128_load(c + r * stride + 4 * v);
  for (int l = 0; l < k; ++l) {
    const v128_t left = wasm_v128_load(b + l * stride), right = wasm_v128_load(b + l * stride + 4);
    for (int r = 0; r < Rows; ++r) {
      const v128_t factor = wasm_v128_load32_splat(a + r * k + l);
      sum[r][0] = fused(factor, left, sum[r][0]);
      sum[r][1] = fused(factor, right, sum[r][1]);
    }
  }
  for (int r = 0; r < Rows; ++r)
    for (int v = 0; v < 2; ++v) wasm_v128_store(c + r * stride + 4 * v, sum[r][v]);
}
// c += a b, N a multiple of 8.
inline void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  for (int column = 0; column < n; column += 8) {
    int row = 0;
    for (; row + 4 <= m; row += 4) tile<4>(a + row * k, b + column, c + row * n + column, k, n);
    for (; row < m; ++row) tile<1>(a + row * k, b + column, c + row * n + column, k, n);
  }
}

}  // namespace isobar::live
