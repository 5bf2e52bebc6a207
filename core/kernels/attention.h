// Attention, forward and backward, one block of query rows at a time: the scores of a block live in scratch
// memory, and of the softmax only each row's log-sum is kept, so nothing of size T × S is ever stored.
//
// Shapes: q and out (B, T, H, D), k and v (B, S, K, D), all contiguous; query head h reads key/value head
// h / (H/K). log_sum is (B, H, T). With `causal`, query t sees the keys s ≤ t + (S − T).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "../blas.h"
#include "scratch.h"
#include "softmax.h"

namespace isobar::kernels {

template <class T>
struct Attention {
  int64_t batch, queries, keys, heads, kv_heads, dim;
  bool causal;
  T scale, softcap;  // softcap 0: none

  static constexpr int64_t block = 64;  // query rows at a time

  // out and log_sum from q, k, v.
  void forward(const T* q, const T* k, const T* v, T* out, T* log_sum) const {
    const int64_t blocks = chunk_count(queries, block);
    parallel_for(batch * heads * blocks, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> scores(block * keys);
      for (int64_t i = begin; i < end; ++i) {
        const Block at(*this, i / blocks / heads, i / blocks % heads, i % blocks * block);
        logits(at, q, k, scores.data());
        for (int64_t r = 0; r < at.rows; ++r) {
          T* row = scores.data() + r * at.seen;
          const int64_t visible = visible_to(at.first + r);
          const T max = row_max(visible, row);
          const double sum = shifted_exp(visible, row, max, row);
          const T inverse = static_cast<T>(1 / sum);
          for (int64_t s = 0; s < visible; ++s) row[s] *= inverse;
          std::fill(row + visible, row + at.seen, T{0});
          log_sum[at.log_sum_row(*this) + r] = static_cast<T>(static_cast<double>(max) + std::log(sum));
        }
        // out = P v
        gemm_serial(Gemm<T>{.m = at.rows,
                            .n = dim,
                            .k = at.seen,
                            .a = scores.data(),
                            .lda = at.seen,
                            .b = v + at.kv_offset,
                            .ldb = kv_heads * dim,
                            .c = out + at.q_offset,
                            .ldc = heads * dim});
      }
    });
  }

  // dq, dk, dv from dout. One task takes a key/value head with all query heads that read it, in order, so
  // every sum has one owner and one order.
  //   P = exp(z − log_sum), dP = dout vᵀ, dz = P (dP − Σ dout·out), dq = scale dz k, dk = scale dzᵀ q, dv =
  //   Pᵀ dout
  void backward(const T* q, const T* k, const T* v, const T* out, const T* log_sum, const T* dout, T* dq,
                T* dk, T* dv) const {
    const int64_t group = heads / kv_heads;
    parallel_for(batch * kv_heads, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> probability(block * keys), slope(block * keys), dz(block * keys);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / kv_heads, kv = i % kv_heads;
        clear_rows(b, kv, dk);
        clear_rows(b, kv, dv);
        for (int64_t h = kv * group; h < (kv + 1) * group; ++h)
          for (int64_t first = 0; first < queries; first += block)
            backward_block(Block(*this, b, h, first), q, k, v, out, log_sum, dout, dq, dk, dv,
                           probability.data(), slope.data(), dz.data());
      }
    });
  }

 private:
  // Rows first … first + rows of one head, where they stand, and how many keys any of them sees.
  struct Block {
    Block(const Attention& a, int64_t sample, int64_t head, int64_t first_row)
        : b(sample),
          h(head),
          first(first_row),
          rows(std::min(block, a.queries - first_row)),
          seen(a.visible_to(first_row + rows - 1)),
          q_offset(((b * a.queries + first_row) * a.heads + h) * a.dim),
          kv_offset((b * a.keys * a.kv_heads + h / (a.heads / a.kv_heads)) * a.dim) {}
    int64_t log_sum_row(const Attention& a) const { return (b * a.heads + h) * a.queries + first; }
    int64_t b, h, first, rows, seen, q_offset, kv_offset;
  };

  int64_t visible_to(int64_t query) const { return causal ? query + 1 + keys - queries : keys; }

  // z = scale · q kᵀ, capped, as (rows, seen).
  void logits(const Block& at, const T* q, const T* k, T* z) const {
    gemm_serial(Gemm<T>{.transpose_b = true,
                        .m = at.rows,
                        .n = at.seen,
                        .k = dim,
                        .a = q + at.q_offset,
                        .lda = heads * dim,
                        .b = k + at.kv_offset,
                        .ldb = kv_heads * dim,
                        .c = z,
                        .ldc = at.seen});
    const int64_t n = at.rows * at.seen;
    if (softcap > 0)
      vmap_serial(
          n, z, [*this](auto s) { return kernels::tanh(s * (scale / softcap)) * softcap; }, z);
    else
      for (int64_t i = 0; i < n; ++i) z[i] *= scale;
  }

  void clear_rows(int64_t b, int64_t kv, T* x) const {
    for (int64_t s = 0; s < keys; ++s) std::fill_n(x + ((b * keys + s) * kv_heads + kv) * dim, dim, T{0});
  }

  void backward_block(const Block& at, const T* q, const T* k, const T* v, const T* out, const T* log_sum,
                      const T* dout, T* dq, T* dk, T* dv, T* p, T* slope, T* dz) const {
    const int64_t q_step = heads * dim, kv_step = kv_heads * dim, n = at.rows * at.seen;
    // The probabilities again, and d capped / d raw logit times scale.
    logits(at, q, k, p);
    if (softcap > 0)
      for (int64_t i = 0; i < n; ++i) slope[i] = scale * (1 - p[i] / softcap * (p[i] / softcap));
    for (int64_t r = 0; r < at.rows; ++r) {
      T* row = p + r * at.seen;
      const int64_t visible = visible_to(at.first + r);
      vmap_serial(
          visible, row,
          [shift = log_sum[at.log_sum_row(*this) + r]](auto z) { return xsimd::exp(z - shift); }, row);
      std::fill(row + visible, row + at.seen, T{0});
    }
    // dP = dout vᵀ, then dz in its place.
    gemm_serial(Gemm<T>{.transpose_b = true,
                        .m = at.rows,
                        .n = at.seen,
                        .k = dim,
                        .a = dout + at.q_offset,
                        .lda = q_step,
                        .b = v + at.kv_offset,
                        .ldb = kv_step,
                        .c = dz,
                        .ldc = at.seen});
    for (int64_t r = 0; r < at.rows; ++r) {
      const T *d = dout + at.q_offset + r * q_step, *o = out + at.q_offset + r * q_step;
      const T dot = static_cast<T>(lane_sum(dim, [=](int64_t c) { return d[c] * o[c]; }));
      const T *pr = p + r * at.seen, *sr = slope + r * at.seen;
      T* zr = dz + r * at.seen;
      if (softcap > 0)
        for (int64_t s = 0; s < at.seen; ++s) zr[s] = pr[s] * (zr[s] - dot) * sr[s];
      else
        for (int64_t s = 0; s < at.seen; ++s) zr[s] = pr[s] * (zr[s] - dot) * scale;
    }
    gemm_serial(Gemm<T>{.m = at.rows,
                        .n = dim,
                        .k = at.seen,
                        .a = dz,
                        .lda = at.seen,
                        .b = k + at.kv_offset,
                        .ldb = kv_step,
                        .c = dq + at.q_offset,
                        .ldc = q_step});
    gemm_serial(Gemm<T>{.transpose_a = true,
                        .m = at.seen,
                        .n = dim,
                        .k = at.rows,
                        .a = dz,
                        .lda = at.seen,
                        .b = q + at.q_offset,
                        .ldb = q_step,
                        .c = dk + at.kv_offset,
                        .ldc = kv_step,
                        .accumulate = true});
    gemm_serial(Gemm<T>{.transpose_a = true,
                        .m = at.seen,
                        .n = dim,
                        .k = at.rows,
                        .a = p,
                        .lda = at.seen,
                        .b = dout + at.q_offset,
                        .ldb = q_step,
                        .c = dv + at.kv_offset,
                        .ldc = kv_step,
                        .accumulate = true});
  }
};

}  // namespace isobar::kernels
