// Attention, forward and backward, one block of query rows at a time: the scores of a block live in scratch
// memory, and of the softmax only two numbers per row are kept, so nothing of size T × S is ever stored.
//
// Shapes: q and out (B, T, H, D), k and v (B, S, K, D), all contiguous; query head h reads key/value head
// h / (H/K). log_sum is (B, H, T, 2): the maximum of a row's logits z, and log Σ exp(z − maximum). They are
// kept apart, because their sum would round at the size of the maximum. With `causal`, query t sees the keys
// s ≤ t + (S − T).
#pragma once

#include <algorithm>
#include <cassert>
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
    assert_sizes();
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
          T* kept = log_sum + at.log_sum_row(*this, r);
          kept[0] = max;
          kept[1] = static_cast<T>(std::log(sum));
        }
        scores_by_keys(at, scores.data(), v, out);  // out = P v
      }
    });
  }

  // What backward reads, and the gradients that it writes.
  struct Arrays {
    const T *q, *k, *v, *out, *log_sum, *dout;
    T *dq, *dk, *dv;
  };

  // One task takes a key/value head with all query heads that read it, in order, so that one thread adds each
  // sum in a fixed order. More tasks would need partial sums of dk and dv, or the scores of each block a
  // second time; for many heads either costs more than it saves for few.
  //
  //   P  = exp((z − maximum) − log Σ)
  //   dP = dout vᵀ
  //   dz = P (dP − Σ dout · out)
  //   dq = scale dz k
  //   dk = scale dzᵀ q
  //   dv = Pᵀ dout
  void backward(const Arrays& a) const {
    assert_sizes();
    const int64_t group = heads / kv_heads;
    parallel_for(batch * kv_heads, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> probability(block * keys), slope(block * keys), dz(block * keys);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t b = i / kv_heads, kv = i % kv_heads;
        clear_rows(b, kv, a.dk);
        clear_rows(b, kv, a.dv);
        for (int64_t h = kv * group; h < (kv + 1) * group; ++h)
          for (int64_t first = 0; first < queries; first += block) {
            const Block at(*this, b, h, first);
            probabilities(at, a, probability.data(), slope.data());
            score_gradients(at, a, probability.data(), slope.data(), dz.data());
            scores_by_keys(at, dz.data(), a.k, a.dq);
            add_to_keys(at, dz.data(), a.q, a.dk);
            add_to_keys(at, probability.data(), a.dout, a.dv);
          }
      }
    });
  }

 private:
  // Rows first … first + rows − 1 of one head, their offsets, and the number of keys that any of them sees.
  struct Block {
    Block(const Attention& a, int64_t sample, int64_t head, int64_t first_row)
        : b(sample),
          h(head),
          first(first_row),
          rows(std::min(block, a.queries - first_row)),
          seen(a.visible_to(first_row + rows - 1)),
          q_offset(((b * a.queries + first_row) * a.heads + h) * a.dim),
          kv_offset((b * a.keys * a.kv_heads + h / (a.heads / a.kv_heads)) * a.dim) {}
    int64_t log_sum_row(const Attention& a, int64_t row) const {
      return ((b * a.heads + h) * a.queries + first + row) * 2;
    }
    int64_t b, h, first, rows, seen, q_offset, kv_offset;
  };

  void assert_sizes() const {
    assert(batch >= 0 && queries >= 0 && keys >= 0 && dim >= 0);
    assert(kv_heads > 0 && heads % kv_heads == 0);
    assert(!causal || keys >= queries);
  }

  int64_t visible_to(int64_t query) const { return causal ? query + 1 + keys - queries : keys; }
  int64_t q_step() const { return heads * dim; }
  int64_t kv_step() const { return kv_heads * dim; }

  // s (rows, seen) = x yᵀ, x laid out as q and y as k.
  void rows_by_keys(const Block& at, const T* x, const T* y, T* s) const {
    gemm_serial(Gemm<T>{.transpose_b = true,
                        .m = at.rows,
                        .n = at.seen,
                        .k = dim,
                        .a = x + at.q_offset,
                        .lda = q_step(),
                        .b = y + at.kv_offset,
                        .ldb = kv_step(),
                        .c = s,
                        .ldc = at.seen});
  }
  // x = s y
  void scores_by_keys(const Block& at, const T* s, const T* y, T* x) const {
    gemm_serial(Gemm<T>{.m = at.rows,
                        .n = dim,
                        .k = at.seen,
                        .a = s,
                        .lda = at.seen,
                        .b = y + at.kv_offset,
                        .ldb = kv_step(),
                        .c = x + at.q_offset,
                        .ldc = q_step()});
  }
  // y += sᵀ x
  void add_to_keys(const Block& at, const T* s, const T* x, T* y) const {
    gemm_serial(Gemm<T>{.transpose_a = true,
                        .m = at.seen,
                        .n = dim,
                        .k = at.rows,
                        .a = s,
                        .lda = at.seen,
                        .b = x + at.q_offset,
                        .ldb = q_step(),
                        .c = y + at.kv_offset,
                        .ldc = kv_step(),
                        .accumulate = true});
  }

  // z = scale · q kᵀ, capped, as (rows, seen).
  void logits(const Block& at, const T* q, const T* k, T* z) const {
    rows_by_keys(at, q, k, z);
    const int64_t n = at.rows * at.seen;
    if (softcap > 0)
      map_registers_serial(
          n, z, [*this](auto s) { return kernels::tanh(s * (scale / softcap)) * softcap; }, z);
    else
      for (int64_t i = 0; i < n; ++i) z[i] *= scale;
  }

  void clear_rows(int64_t b, int64_t kv, T* x) const {
    for (int64_t s = 0; s < keys; ++s) std::fill_n(x + ((b * keys + s) * kv_heads + kv) * dim, dim, T{0});
  }

  // Computes P again; with a softcap also the slope of the capped logit with respect to the raw one, times
  // scale.
  void probabilities(const Block& at, const Arrays& a, T* p, T* slope) const {
    logits(at, a.q, a.k, p);
    if (softcap > 0)
      for (int64_t i = 0; i < at.rows * at.seen; ++i)
        slope[i] = scale * (1 - p[i] / softcap * (p[i] / softcap));
    for (int64_t r = 0; r < at.rows; ++r) {
      T* row = p + r * at.seen;
      const int64_t visible = visible_to(at.first + r);
      const T* kept = a.log_sum + at.log_sum_row(*this, r);
      map_registers_serial(
          visible, row, [max = kept[0], log = kept[1]](auto z) { return xsimd::exp((z - max) - log); }, row);
      std::fill(row + visible, row + at.seen, T{0});
    }
  }

  // dz, times scale or slope.
  void score_gradients(const Block& at, const Arrays& a, const T* p, const T* slope, T* dz) const {
    rows_by_keys(at, a.dout, a.v, dz);
    for (int64_t r = 0; r < at.rows; ++r) {
      const T *d = a.dout + at.q_offset + r * q_step(), *o = a.out + at.q_offset + r * q_step();
      const T dot = static_cast<T>(lane_sum(dim, [=](int64_t c) { return d[c] * o[c]; }));
      const T *pr = p + r * at.seen, *sr = slope + r * at.seen;
      T* zr = dz + r * at.seen;
      if (softcap > 0)
        for (int64_t s = 0; s < at.seen; ++s) zr[s] = pr[s] * (zr[s] - dot) * sr[s];
      else
        for (int64_t s = 0; s < at.seen; ++s) zr[s] = pr[s] * (zr[s] - dot) * scale;
    }
  }
};

}  // namespace isobar::kernels
