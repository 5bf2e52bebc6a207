// Matrix products of the sizes that occur in training, C (M, N) = A · B, without copying both operands.
//
// A BLAS library copies A and B into its own layout on every call. That pays when each element is read
// hundreds of times; for 32 rows it takes as long as the product itself. This kernel copies (or transposes)
// B, one block of panels at a time, each panel three registers wide. It copies A only where the rows of A are
// not contiguous:
//
//   for each block of K, all of one length of at most 512:
//     for each block of panels of B, copied so that the K rows of a panel are contiguous:
//       for each 8 rows of A:
//         for each panel of the block:        8 × 3 registers hold a tile of C
//           for l in 0 … K − 1:               tile += column l of A ⊗ row l of the panel
//
// The first 8 rows of A read B itself and copy it on the way, so that memory is busy while the core
// multiplies. In small products every row of A reads B itself. Where A fits into the second-level cache, and its rows
// and those of B are contiguous, the two inner loops change places: a panel is multiplied by all rows of A before
// the next one is read, and memory has that much more time to bring it.
//
// What a tile will read and write next is fetched into the caches while it multiplies, at addresses that the
// caches' own prefetching does not foresee: the next 8 rows of A, its part of C, and the next panel of B.
//
// Tiles are 8 × 3 rather than 12 × 2 or 14 × 2: three loads of the panel and eight of A serve 24
// multiply-adds, so the core's four instructions per cycle are enough, and eight rows whose distance is a
// large power of two still fit into the eight ways of a first-level cache.
//
// Each element of C is one chain of fused multiply-adds in the order of l, whatever tile it falls into: its
// bits depend on its row of A and its column of B alone.
#pragma once

#include <utility>

#include "../blas.h"
#include "row.h"
#include "scratch.h"

namespace isobar::kernels {

// A tile's sums and one row of a panel take 24 + 3 of 32 registers, or 12 + 3 of 16; elements of A take the
// rest.
inline constexpr int tile_registers = 3;
template <class T>
inline constexpr int tile_rows = sizeof(Vec<T>) == 64 ? 8 : 4;
template <class T>
inline constexpr int64_t panel_columns = tile_registers* width<T>;
inline constexpr int64_t block_bytes = 768 << 10;  // panels that stay in the second-level cache
inline constexpr int64_t block_depth = 512;        // rows of B in a block
inline constexpr int64_t strip_rows = 256;         // times tile_rows: rows of A in a copy
inline constexpr int64_t pack_rows = 64;           // rows of A that are copied shortly before they are used
inline constexpr int64_t rows_ahead = 8;           // rows of B that are fetched before they are copied
template <class T>
inline constexpr int64_t cache_line = 64 / sizeof(T);  // elements that are fetched at once
inline constexpr int64_t most_in_place = 1e6;          // multiply-adds for which no copy of B's rows pays

// The size of a block where `length` is cut into equal blocks of at most `most`.
inline int64_t even_block(int64_t length, int64_t most) {
  return chunk_count(length, std::max<int64_t>(1, chunk_count(length, most)));
}

// body(begin, count) for each block of 0 … n − 1, the last one shorter.
template <class Body>
void for_blocks(int64_t n, int64_t size, const Body& body) {
  for (int64_t begin = 0; begin < n; begin += size) body(begin, std::min(size, n - begin));
}

// Fetches into the second-level cache, at the l-th of a tile's steps, what comes after it: the R rows of A below its
// own, and row l of `next`, where that has data. (g++ 12 leaves out the call of a function that only fetches, unless it
// must be inlined.)
template <int R, class T>
[[gnu::always_inline]] inline void fetch_rows_ahead(const Strided<const T>& a, const Strided<const T>& next,
                                                    int64_t l) {
  if (l % cache_line<T> == 0)
    for (int r = 0; r < R; ++r) __builtin_prefetch(a.at(R + r, l), 0, 2);
  if (next.data != nullptr) __builtin_prefetch(next.at(l, 0), 0, 2);
}

// out (R, V registers) = start + a · panel, whose rows are `panel_step` apart. The rows of start are
// contiguous; without data it is zero. Where `copying`, the panel's rows are copied to `copy`. `next` (k, cache_line),
// where it has data, is fetched.
template <class T, int R, int V, bool copying = false>
void multiply_tile(int64_t k, const Strided<const T>& a, const T* panel, int64_t panel_step,
                   [[maybe_unused]] T* copy, const Strided<const T>& next, const Strided<const T>& start,
                   T* out, int64_t out_step) {
  Vec<T> sum[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      sum[r][v] = start.data ? load(start.data + r * start.row + v * width<T>) : Vec<T>{};
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) __builtin_prefetch(out + r * out_step + v * width<T>, 1);
  for (int64_t l = 0; l < k; ++l) {
    fetch_rows_ahead<R>(a, next, l);
    Vec<T> row[V];
    for (int v = 0; v < V; ++v) {
      const T* const from = panel + l * panel_step + v * width<T>;
      if constexpr (copying) __builtin_prefetch(from + rows_ahead * panel_step);
      row[v] = load(from);
      if constexpr (copying) store(row[v], copy + l * panel_columns<T> + v * width<T>);
    }
    for (int r = 0; r < R; ++r) {
      const Vec<T> x = splat<Vec<T>>(*a.at(r, l));
      for (int v = 0; v < V; ++v) sum[r][v] = fma(x, row[v], sum[r][v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) store(sum[r][v], out + r * out_step + v * width<T>);
}

// The functions for every height 1 … tile_rows and width 1 … tile_registers, as [V − 1][R − 1].
template <class T>
using MultiplyTile = void (*)(int64_t, const Strided<const T>&, const T*, int64_t, T*,
                              const Strided<const T>&, const Strided<const T>&, T*, int64_t);
template <class T, int V, int... R>
constexpr std::array<MultiplyTile<T>, tile_rows<T>> tiles_of_width(std::integer_sequence<int, R...>) {
  return {multiply_tile<T, R + 1, V>...};
}
template <class T, class Heights = std::make_integer_sequence<int, tile_rows<T>>>
inline constexpr std::array multiply_tiles{tiles_of_width<T, 1>(Heights()), tiles_of_width<T, 2>(Heights()),
                                           tiles_of_width<T, 3>(Heights())};

// 128-bit registers of the machine, and the numbers of two of them in turn: their first halves, or their second.
typedef float Quad __attribute__((vector_size(16)));
typedef double Pair __attribute__((vector_size(16)));
inline Quad interleaved(Quad a, Quad b, std::false_type) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
inline Quad interleaved(Quad a, Quad b, std::true_type) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
inline Pair interleaved(Pair a, Pair b, std::false_type) { return __builtin_shufflevector(a, b, 0, 2); }
inline Pair interleaved(Pair a, Pair b, std::true_type) { return __builtin_shufflevector(a, b, 1, 3); }

// y = xᵀ of a square of 128-bit registers: in log2(q) rounds the first half of the rows is interleaved with
// the second half.
template <class T>
inline constexpr int square_side = 16 / sizeof(T);
template <class T>
void transpose_square(const T* x, int64_t x_step, T* y, int64_t y_step) {
  constexpr int q = square_side<T>;
  using Row = std::conditional_t<sizeof(T) == 4, Quad, Pair>;
  std::array<Row, q> rows, mixed;
  for (int i = 0; i < q; ++i) std::memcpy(&rows[i], x + i * x_step, sizeof(Row));
  for (int round = 1; round < q; round *= 2) {
    for (int i = 0; i < q / 2; ++i) {
      mixed[2 * i] = interleaved(rows[i], rows[i + q / 2], std::false_type());
      mixed[2 * i + 1] = interleaved(rows[i], rows[i + q / 2], std::true_type());
    }
    rows = mixed;
  }
  for (int i = 0; i < q; ++i) std::memcpy(y + i * y_step, &rows[i], sizeof(Row));
}

// y (columns, rows) = xᵀ of x (rows, columns)
template <class T>
void transpose(int64_t rows, int64_t columns, const T* x, int64_t x_step, T* y, int64_t y_step) {
  constexpr int q = square_side<T>;
  const int64_t whole_rows = rows / q * q, whole_columns = columns / q * q;
  for_blocks(whole_columns, 64,
             [&](int64_t first, int64_t count) {  // so many rows of y stay in the first-level cache
               for (int64_t i = 0; i < whole_rows; i += q)
                 for (int64_t j = first; j < first + count; j += q)
                   transpose_square(x + i * x_step + j, x_step, y + j * y_step + i, y_step);
             });
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j)
      y[j * y_step + i] = x[i * x_step + j];
}

// to = from; each has contiguous rows or columns.
template <class T>
void copy_matrix(int64_t rows, int64_t columns, const Strided<const T>& from, const Strided<T>& to) {
  if (from.column == 1 && to.column == 1)
    for (int64_t i = 0; i < rows; ++i) std::copy_n(from.at(i, 0), columns, to.at(i, 0));
  else if (from.column == 1)
    transpose(rows, columns, from.data, from.row, to.data, to.column);
  else
    transpose(columns, rows, from.data, from.column, to.data, to.row);
}

// panel = b (k, columns), padded with zeros to whole registers.
template <class T>
void pack_panel(int64_t k, int64_t columns, const Strided<const T>& b, T* panel) {
  constexpr int64_t step = panel_columns<T>;
  if (columns % width<T> != 0) std::fill_n(panel, k * step, T{0});
  if (b.column != 1 || columns % width<T> != 0) return copy_matrix(k, columns, b, Strided<T>{panel, step, 1});
  for (int64_t l = 0; l < k; ++l)
    for (int64_t j = 0; j < columns; j += width<T>) store(load(b.at(l, j)), panel + l * step + j);
}

// What a tile does with its columns of B: it reads a panel that was copied before; it copies it first; or it
// reads B itself, of which it copies no more than columns that fill no register.
enum class Panel { copied, to_copy, in_place };

// c (rows, columns) = start + a · b. The panel has room for a copy of b. `next` (k, cache_line) is fetched where b is
// copied already.
template <class T>
void place_tile(int64_t k, int64_t rows, int64_t columns, const Strided<const T>& a, Panel state,
                const Strided<const T>& b, T* panel, const Strided<const T>& next,
                const Strided<const T>& start, const Strided<T>& c) {
  constexpr int64_t step = panel_columns<T>, height = tile_rows<T>;
  const bool whole = columns % width<T> == 0;
  const bool fits = c.column == 1 && (start.data == nullptr || start.column == 1) && whole;
  if (state == Panel::to_copy && b.column == 1 && fits && rows == height && columns == step)
    return multiply_tile<T, height, tile_registers, true>(k, a, b.data, b.row, panel, {}, start, c.data,
                                                          c.row);
  const bool in_place = state == Panel::in_place && whole;
  if (state != Panel::copied && !in_place) pack_panel(k, columns, b, panel);
  const T* const from = in_place ? b.data : panel;
  const int64_t from_step = in_place ? b.row : step;
  const auto multiply_tile = multiply_tiles<T>[(columns - 1) / width<T>][rows - 1];
  if (fits) return multiply_tile(k, a, from, from_step, nullptr, next, start, c.data, c.row);
  // Through a buffer where c has no room for whole registers or is transposed.
  T buffer[height * step];
  const Strided<T> tile{buffer, step, 1};
  if (start.data) {
    std::fill_n(buffer, rows * step, T{0});
    copy_matrix(rows, columns, start, tile);
  }
  multiply_tile(k, a, from, from_step, nullptr, next, {start.data ? buffer : nullptr, step, 1}, buffer, step);
  copy_matrix<T>(rows, columns, tile, c);
}

// strips = a (rows, k) whose columns are contiguous: tile_rows at a time, column after column. Unused rows of
// the last strip are neither written nor read.
template <class T>
void pack_strips(int64_t rows, int64_t k, const Strided<const T>& a, T* strips) {
  constexpr int64_t step = tile_rows<T>;
  const int64_t whole = rows / step * step;
  for (int64_t l = 0; l < k; ++l) {
    for (int64_t i = 0; i < whole; i += step) std::copy_n(a.at(i, l), step, strips + i * k + l * step);
    std::copy_n(a.at(whole, l), rows - whole, strips + whole * k + l * step);
  }
}

// What the tile at (i, j) fetches of the panel after its own: each strip of A after the first, one cache line of every
// row.
template <class T>
Strided<const T> columns_ahead(const Gemm<T>& p, int64_t i, int64_t j) {
  const int64_t end = std::min(j + 2 * panel_columns<T>, p.n);
  const int64_t column = j + panel_columns<T> + (i / tile_rows<T> - 1) * cache_line<T>;
  return i > 0 && column < end ? p.b.from(0, column) : Strided<const T>{};
}

// p for one block of K and one of panels, which it copies. Rows of A that are not contiguous are read
// from strips, which have room for `kept` rows, or copied there first.
template <class T>
void multiply_block(const Gemm<T>& p, T* panels, T* strips, int64_t kept, bool copy_a) {
  constexpr int64_t step = panel_columns<T>, height = tile_rows<T>;
  const bool in_place = p.b.column == 1 && p.m * p.n * p.k <= most_in_place;
  const auto tile = [&](int64_t i, int64_t j, const Strided<const T>& next) {
    const auto a = kept > 0 ? Strided<const T>{strips + i % kept * p.k, 1, height} : p.a.from(i, 0);
    const int64_t wide = std::min(step, p.n - j);
    // A last panel that is narrower than a register is copied by the first rows for all.
    const Panel state = i > 0 && !(in_place && wide % width<T> == 0) ? Panel::copied
                        : in_place                                   ? Panel::in_place
                                                                     : Panel::to_copy;
    place_tile(p.k, std::min(height, p.m - i), wide, a, state, p.b.from(0, j), panels + j * p.k, next,
               p.start.from(i, j), p.c.from(i, j));
  };
  const auto bytes_of_a = p.m * p.k * static_cast<int64_t>(sizeof(T));
  if (kept == 0 && !in_place && p.b.column == 1 && bytes_of_a <= block_bytes) {
    for (int64_t j = 0; j < p.n; j += step)
      for (int64_t i = 0; i < p.m; i += height) tile(i, j, columns_ahead(p, i, j));
    return;
  }
  for (int64_t i = 0; i < p.m; i += height) {
    if (copy_a && i % pack_rows == 0)
      pack_strips(std::min(pack_rows, p.m - i), p.k, p.a.from(i, 0), strips + i % kept * p.k);
    for (int64_t j = 0; j < p.n; j += step) tile(i, j, {});
  }
}

// A matrix B (K, N) as panels: copied once, then multiplied by a few rows of A at a time.
template <class T>
class Panels {
 public:
  // Elements that up to k rows and n columns take.
  static int64_t size(int64_t k, int64_t n) {
    return k * panel_columns<T> * chunk_count(n, panel_columns<T>);
  }
  // At `data`, which has room for size(k, n) of them.
  Panels(int64_t k, int64_t n, T* data) : k_(k), data_(data), end_(data + size(k, n)) {}

  T* end() const { return end_; }

  // Copies b (k, n).
  void pack(int64_t k, int64_t n, const Strided<const T>& b) {
    assert(k <= k_);
    for_blocks(n, panel_columns<T>,
               [&](int64_t j, int64_t wide) { pack_panel(k, wide, b.from(0, j), panel(j)); });
  }

  // c (rows, n) = start + a · B' for at most tile_rows rows, where B' (k, n) is B from row `first` on. The
  // last panel is padded with zeros, so n may be rounded up to whole registers.
  void multiply(int64_t rows, int64_t n, int64_t first, int64_t k, const Strided<const T>& a,
                const Strided<const T>& start, const Strided<T>& c) const {
    assert(rows <= tile_rows<T> && first + k <= k_);
    for_blocks(n, panel_columns<T>, [&](int64_t j, int64_t wide) {
      place_tile(k, rows, wide, a, Panel::copied, {}, panel(j) + first * panel_columns<T>, {},
                 start.from(0, j), c.from(0, j));
    });
  }

 private:
  T* panel(int64_t j) const { return data_ + j * k_; }

  const int64_t k_;
  T *const data_, *const end_;
};

// Computes the product, in which C too may have contiguous columns, on the calling thread.
template <class T>
void multiply(const Gemm<T>& p) {
  constexpr int64_t step = panel_columns<T>;
  assert(p.m >= 0 && p.n >= 0 && p.k >= 0);
  assert((p.a.row == 1 || p.a.column == 1) && (p.b.row == 1 || p.b.column == 1));
  assert(p.c.row == 1 || p.c.column == 1);
  const bool contiguous = p.a.column == 1;
  const int64_t depth = even_block(p.k, block_depth);
  const int64_t fitting =
      block_bytes / (std::max<int64_t>(depth, 1) * step * static_cast<int64_t>(sizeof(T)));
  const int64_t block = step * even_block(chunk_count(p.n, step), fitting);
  const bool one_block = block >= p.n;
  const int64_t rows = contiguous || one_block
                           ? std::max<int64_t>(p.m, 1)
                           : tile_rows<T> * even_block(chunk_count(p.m, tile_rows<T>), strip_rows);
  // With one block of B the strips are not read again: the same memory, still in cache, serves the next rows.
  const int64_t kept = contiguous ? 0 : one_block ? pack_rows : rows;
  const Scratch<T> panels(block * depth), strips(kept * depth);
  for_blocks(p.k, depth, [&](int64_t l, int64_t k) {
    for_blocks(p.m, rows, [&](int64_t i, int64_t high) {
      for_blocks(p.n, block, [&](int64_t j, int64_t wide) {
        const Strided<T> c = p.c.from(i, j);
        multiply_block<T>({.m = high,
                           .n = wide,
                           .k = k,
                           .a = p.a.from(i, l),
                           .b = p.b.from(l, j),
                           .start = l > 0 ? c : p.start.from(i, j),
                           .c = c},
                          panels.data(), strips.data(), kept, !contiguous && j == 0);
      });
    });
  });
}

}  // namespace isobar::kernels
