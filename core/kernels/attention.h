// Attention, forward and backward, a few query rows at a time (as many as a tile of a product has): their
// scores stay in the first-level cache, scores that a causal mask hides are hardly computed, and of the
// softmax only two numbers per row are kept, so nothing of size T × S is ever stored.
//
// Shapes: q and out (B, T, H, D), k and v (B, S, K, D), all contiguous; query head h reads key/value head
// h / (H/K). softmax is (B, H, T, 2): the maximum of a row's logits z, and 1 / Σ exp(z − maximum). With
// `causal`, query t sees the keys s ≤ t + (S − T).
#pragma once

#include <numeric>
#include <utility>

#include "gemm.h"
#include "softmax.h"

namespace isobar::kernels {

template <class T>
struct Attention {
  int64_t batch, queries, keys, heads, kv_heads, dim;
  bool causal;
  T scale, softcap;  // softcap 0: none

  static constexpr int64_t block = 64;            // query rows in a task, and in a sum of dk and dv
  static constexpr int64_t strip = tile_rows<T>;  // query rows at a time

  // out and softmax from q, k, v.
  void forward(const T* q, const T* k, const T* v, T* out, T* softmax) const {
    assert_sizes();
    const int64_t blocks = chunk_count(queries, block);
    // A task takes several blocks of a head, which share the panels, where that leaves tasks enough.
    const int64_t tasks = batch * heads * blocks,
                  grain = std::clamp<int64_t>(tasks / 16, 1, std::max<int64_t>(blocks, 1));
    parallel_for(tasks, grain, [&](int64_t begin, int64_t end) {
      const int64_t head_dim = few() ? 0 : dim;
      const Scratch<T> room(Panels<T>::size(head_dim, keys) + Panels<T>::size(keys, head_dim) +
                            strip * step());
      Panels<T> kt(head_dim, keys, room.data()), values(keys, head_dim, kt.end());
      T* const scores = values.end();
      int64_t packed = -1;
      for (int64_t i = begin; i < end; ++i) {
        const Rows at = rows_from(i / blocks / heads, i / blocks % heads, i % blocks * block, block);
        if (!few() && std::exchange(packed, at.kv_offset) != at.kv_offset) {
          kt.pack(dim, keys, by_keys(at, k).transposed());
          values.pack(keys, dim, by_keys(at, v));
        }
        for_strips(at, [&](const Rows& rows) {
          const Strided<T> s{scores, step(), 1};
          products(rows, q, k, kt, s);
          for (int64_t r = 0; r < rows.count; ++r)
            softmax_row(visible_to(rows.first + r), s.at(r, 0), softmax + rows.softmax_offset + 2 * r);
          mixed_values(rows, s, v, values, out);
        });
      }
    });
  }

  // What backward reads, and the gradients that it writes.
  struct Arrays {
    const T *q, *k, *v, *out, *softmax, *dout;
    T *dq, *dk, *dv;
  };

  // One task takes a key/value head with all query heads that read it, in order, so that one thread adds each
  // sum in a fixed order. More tasks would need partial sums of dk and dv, or the scores of each block a
  // second time; for many heads either costs more than it saves for few.
  //
  //   P  = exp(z − maximum) / Σ
  //   dP = dout vᵀ
  //   dz = P (dP − Σ dout · out)
  //   dq = scale dz k
  //   dk = scale dzᵀ q
  //   dv = Pᵀ dout
  void backward(const Arrays& a) const {
    assert_sizes();
    parallel_for(batch * kv_heads, 1, [&](int64_t begin, int64_t end) {
      const Scratch<T> room(2 * Panels<T>::size(dim, keys) + Panels<T>::size(keys, dim) +
                            2 * Panels<T>::size(block, dim) + 2 * block * step());
      Panels<T> kt(dim, keys, room.data()), vt(dim, keys, kt.end()), by_dim(keys, dim, vt.end()),
          queries_of(block, dim, by_dim.end()), douts(block, dim, queries_of.end());
      T *const probability = douts.end(), *const dz = probability + block * step();
      const int64_t group = heads / kv_heads;
      for (int64_t i = begin; i < end; ++i) {
        const Rows head = rows_from(i / kv_heads, i % kv_heads * group, 0, 0);
        kt.pack(dim, keys, by_keys(head, a.k).transposed());
        vt.pack(dim, keys, by_keys(head, a.v).transposed());
        by_dim.pack(keys, dim, by_keys(head, a.k));
        clear(by_keys(head, a.dk));
        clear(by_keys(head, a.dv));
        for (int64_t h = head.h; h < head.h + group; ++h)
          for_blocks(queries, block, [&](int64_t first, int64_t) {
            const Rows at = rows_from(head.b, h, first, block);
            queries_of.pack(at.count, dim, by_queries(at, a.q));
            douts.pack(at.count, dim, by_queries(at, a.dout));
            for_strips(at, [&](const Rows& rows) {
              const Strided<T> p{probability + (rows.first - first) * step(), step(), 1};
              const Strided<T> d{dz + (rows.first - first) * step(), step(), 1};
              products(rows, a.q, a.k, kt, p);
              vt.multiply(rows.count, whole(rows.seen), 0, dim, by_queries(rows, a.dout), {}, d);
              for (int64_t r = 0; r < rows.count; ++r) score_gradients(rows, r, a, p.at(r, 0), d.at(r, 0));
              by_dim.multiply(rows.count, dim, 0, rows.seen, d, {}, by_queries(rows, a.dq));
            });
            add_to_keys(at, dz, queries_of, by_keys(at, a.dk));
            add_to_keys(at, probability, douts, by_keys(at, a.dv));
          });
      }
    });
  }

 private:
  // Rows first … first + count − 1 of one head, their offsets, and the number of keys that any of them sees.
  struct Rows {
    int64_t b, h, first, count, seen, q_offset, kv_offset, softmax_offset;
  };
  Rows rows_from(int64_t b, int64_t h, int64_t first, int64_t most) const {
    const int64_t count = std::min(most, queries - first);
    return {.b = b,
            .h = h,
            .first = first,
            .count = count,
            .seen = visible_to(first + count - 1),
            .q_offset = ((b * queries + first) * heads + h) * dim,
            .kv_offset = (b * keys * kv_heads + h / (heads / kv_heads)) * dim,
            .softmax_offset = ((b * heads + h) * queries + first) * 2};
  }
  template <class Body>
  void for_strips(const Rows& at, const Body& body) const {
    for_blocks(at.count, strip,
               [&](int64_t r, int64_t count) { body(rows_from(at.b, at.h, at.first + r, count)); });
  }

  void assert_sizes() const {
    assert(batch >= 0 && queries >= 0 && keys >= 0 && dim >= 0);
    assert(kv_heads > 0 && heads % kv_heads == 0);
    assert(!causal || keys >= queries);
  }

  // A few queries, as with a cache of keys and values, read each key once: panels of them would not pay.
  bool few() const { return queries < strip; }
  int64_t visible_to(int64_t query) const { return causal ? query + 1 + keys - queries : keys; }
  // n rounded up to whole registers.
  static int64_t whole(int64_t n) { return chunk_count(n, width<T>) * width<T>; }
  // After the last key that a row sees come this many zeros, so that tiles may read what other rows of its
  // strip see.
  static constexpr int64_t zeros = std::max<int64_t>(2 * strip, width<T>);
  // Elements from row to row of the scores: an odd number of registers.
  int64_t step() const { return (chunk_count(keys + zeros, width<T>) | 1) * width<T>; }

  template <class U>
  Strided<U> by_queries(const Rows& at, U* x) const {
    return {x + at.q_offset, heads * dim, 1};
  }
  template <class U>
  Strided<U> by_keys(const Rows& at, U* x) const {
    return {x + at.kv_offset, kv_heads * dim, 1};
  }
  void clear(const Strided<T>& x) const {
    for (int64_t s = 0; s < keys; ++s) std::fill_n(x.at(s, 0), dim, T{0});
  }

  // s (count, seen) = q kᵀ
  void products(const Rows& rows, const T* q, const T* k, const Panels<T>& kt, const Strided<T>& s) const {
    const Strided<const T> a = by_queries(rows, q), b = by_keys(rows, k);
    if (!few()) return kt.multiply(rows.count, whole(rows.seen), 0, dim, a, {}, s);
    gemm(Gemm<T>{rows.count, rows.seen, dim, a, b.transposed(), {}, s});
  }
  // out = P v
  void mixed_values(const Rows& rows, const Strided<T>& p, const T* v, const Panels<T>& values,
                    T* out) const {
    const Strided<const T> b = by_keys(rows, v);
    const Strided<T> c = by_queries(rows, out);
    if (!few()) return values.multiply(rows.count, dim, 0, rows.seen, p, {}, c);
    gemm(Gemm<T>{rows.count, dim, rows.seen, p, b, {}, c});
  }
  // y += sᵀ x for the rows of a block; a key is multiplied by the rows that see it.
  void add_to_keys(const Rows& at, const T* s, const Panels<T>& x, const Strided<T>& y) const {
    for_blocks(at.seen, strip, [&](int64_t key, int64_t count) {
      const int64_t first = causal ? std::max<int64_t>(key - (keys - queries) - at.first, 0) : 0;
      const Strided<T> sum = y.from(key, 0);
      x.multiply(count, dim, first, at.count - first, {s + first * step() + key, 1, step()}, sum, sum);
    });
  }

  // A logit from the product of a query and a key.
  Vec<T> logit(Vec<T> s) const {
    return softcap > 0 ? kernels::tanh(s * (scale / softcap)) * softcap : s * scale;
  }

  // body(seen, i) for the registers of the keys that a row sees; seen.keep(v, padding) has padding in the
  // lanes after the last key. Rows have room for whole registers.
  struct AllLanes {
    Vec<T> keep(Vec<T> v, T) const { return v; }
  };
  struct FirstLanes {
    int64_t count;
    Vec<T> keep(Vec<T> v, T padding) const {
      T number[width<T>];
      std::iota(number, number + width<T>, T{0});
      return select(load(number) < static_cast<T>(count), v, splat<Vec<T>>(padding));
    }
  };
  template <class Body>
  static void for_seen(int64_t visible, const Body& body) {
    int64_t i = 0;
    for (; i + lanes <= visible; i += lanes)
      for (int64_t l = 0; l < lanes; l += width<T>) body(AllLanes{}, i + l);
    for (; i + width<T> <= visible; i += width<T>) body(AllLanes{}, i);
    if (i < visible) body(FirstLanes{visible - i}, i);
  }
  static T largest(Vec<T> v) {
    T each[width<T>];
    store(v, each);
    for (int64_t n = width<T> / 2; n > 0; n /= 2)
      for (int64_t l = 0; l < n; ++l) each[l] = each[l] < each[l + n] ? each[l + n] : each[l];
    return each[0];
  }
  static void add_zeros(int64_t visible, T* row) {
    for (int64_t i = 0; i < zeros; i += width<T>) store(Vec<T>{}, row + visible + i);
  }

  // row = softmax of the logits of the products in row; kept = the largest logit and 1 / Σ.
  void softmax_row(int64_t visible, T* row, T* kept) const {
    constexpr T lowest = -std::numeric_limits<T>::infinity();
    Vec<T> best = splat<Vec<T>>(lowest);
    for_seen(visible, [&](auto seen, int64_t i) {
      const Vec<T> z = seen.keep(logit(load(row + i)), lowest);
      best = max(best, z);  // a NaN may be skipped here: the sum shows it
      store(z, row + i);
    });
    kept[0] = largest(best);
    LaneSums<T> sum;
    for_seen(visible, [&, max = kept[0]](auto seen, int64_t i) {
      const Vec<T> e = seen.keep(kernels::exp(load(row + i) - max), T{0});
      sum.add(e, i);
      store(e, row + i);
    });
    kept[1] = static_cast<T>(1 / sum.total());
    for_seen(visible, [&, inverse = kept[1]](auto, int64_t i) { store(load(row + i) * inverse, row + i); });
    add_zeros(visible, row);
  }

  // p: from products to probabilities; dz: from dP to dz, times scale or, with a softcap, the slope of the
  // logit.
  void score_gradients(const Rows& rows, int64_t r, const Arrays& a, T* p, T* dz) const {
    const T *d = by_queries(rows, a.dout).at(r, 0), *o = by_queries(rows, a.out).at(r, 0);
    LaneSums<T> sum;
    for_registers<T>(dim, [&](auto io, int64_t i) { sum.add(io.load(d + i) * io.load(o + i), i); });
    const T* kept = a.softmax + rows.softmax_offset + 2 * r;
    const T dot = static_cast<T>(sum.total()), max = kept[0], inverse = kept[1];
    const int64_t visible = visible_to(rows.first + r);
    for_seen(visible, [&](auto, int64_t i) {
      const Vec<T> z = logit(load(p + i)), e = kernels::exp(z - max) * inverse;
      const Vec<T> change = e * (load(dz + i) - dot) * scale;
      store(e, p + i);
      store(softcap > 0 ? change * (T{1} - z / softcap * (z / softcap)) : change, dz + i);
    });
    add_zeros(visible, p);
    add_zeros(visible, dz);
  }
};

}  // namespace isobar::kernels
