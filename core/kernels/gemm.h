// Matrix products of the sizes that occur in training, C (M, N) = A · B, without copying both operands.
//
// A BLAS library copies A and B into its own layout on every call. That pays when each element is read
// hundreds of times; for 32 rows it takes as long as the product itself. This kernel copies (or transposes)
// B, one block of panels at a time, each panel three registers wide. It copies A only where the rows of A are
// not contiguous:
//
//   for each piece of K, all of one length of at most 512:
//     for each block of panels of B, copied so that the K rows of a panel are contiguous:
//       for each 8 rows of A:
//         for each panel of the block:        8 × 3 registers hold a tile of C
//           for l in 0 … K − 1:               tile += column l of A ⊗ row l of the panel
//
// Tiles are 8 × 3 rather than 12 × 2 or 14 × 2: three loads of the panel and eight of A serve 24
// multiply-adds, so the core's four instructions per cycle are enough, and eight rows whose distance is a
// large power of two still fit into the eight ways of a first-level cache.
//
// Each element of C is one chain of fused multiply-adds in the order of l, whatever tile it falls into: its
// bits depend on its row of A and its column of B alone.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <utility>

#include "scratch.h"
#include "vmath.h"

namespace isobar::kernels {

// A matrix whose element (i, j) is data[i · row + j · column].
template <class T>
struct Strided {
  T* data;
  int64_t row, column;
  T* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
  Strided from(int64_t i, int64_t j) const { return {at(i, j), row, column}; }
  Strided transposed() const { return {data, column, row}; }
};

// c (m, n) = a (m, k) · b (k, n), or added to c. Each matrix has contiguous rows or columns.
template <class T>
struct Product {
  int64_t m, n, k;
  Strided<const T> a, b;
  Strided<T> c;
  bool accumulate;

  // cᵀ = bᵀ · aᵀ, the same numbers.
  Product transposed() const { return {n, m, k, b.transposed(), a.transposed(), c.transposed(), accumulate}; }
};

// A tile's sums and one row of a panel take 24 + 3 of 32 registers, or 12 + 3 of 16; elements of A take the
// rest.
inline constexpr int tile_registers = 3;
template <class T>
inline constexpr int tile_rows = sizeof(Register<T>) == 64 ? 8 : 4;
template <class T>
inline constexpr int64_t panel_columns = tile_registers* width<T>;
inline constexpr int64_t block_bytes = 512 << 10;  // panels that stay in the second-level cache
inline constexpr int64_t block_depth = 512;        // rows of B in a block
inline constexpr int64_t block_rows = 64;          // rows of A in a copy

// out (R, V registers) = a · panel, or added to out.
template <class T, int R, int V>
void multiply_tile(int64_t k, const Strided<const T>& a, const T* panel, bool add, T* out, int64_t out_step) {
  Register<T> sum[R][V];
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v)
      sum[r][v] = add ? Register<T>::load_unaligned(out + r * out_step + v * width<T>) : Register<T>(T{0});
  for (int64_t l = 0; l < k; ++l) {
    Register<T> b[V];
    for (int v = 0; v < V; ++v)
      b[v] = Register<T>::load_unaligned(panel + l * panel_columns<T> + v * width<T>);
    for (int r = 0; r < R; ++r) {
      const Register<T> x(*a.at(r, l));
      for (int v = 0; v < V; ++v) sum[r][v] = xsimd::fma(x, b[v], sum[r][v]);
    }
  }
  for (int r = 0; r < R; ++r)
    for (int v = 0; v < V; ++v) sum[r][v].store_unaligned(out + r * out_step + v * width<T>);
}

// The functions for every height 1 … tile_rows and width 1 … tile_registers, as [V − 1][R − 1].
template <class T>
using MultiplyTile = void (*)(int64_t, const Strided<const T>&, const T*, bool, T*, int64_t);
template <class T, int V, int... R>
constexpr std::array<MultiplyTile<T>, tile_rows<T>> tiles_of_width(std::integer_sequence<int, R...>) {
  return {multiply_tile<T, R + 1, V>...};
}
template <class T, class Heights = std::make_integer_sequence<int, tile_rows<T>>>
inline constexpr std::array multiply_tiles{tiles_of_width<T, 1>(Heights()), tiles_of_width<T, 2>(Heights()),
                                           tiles_of_width<T, 3>(Heights())};

// y = xᵀ of a square of 128-bit registers: in log2(q) rounds the first half of the rows is interleaved with
// the second half.
template <class T>
inline constexpr int square = 16 / sizeof(T);
template <class T>
void transpose_square(const T* x, int64_t x_step, T* y, int64_t y_step) {
  constexpr int q = square<T>;
  using Row = xsimd::make_sized_batch_t<T, q>;
  std::array<Row, q> rows, mixed;
  for (int i = 0; i < q; ++i) rows[i] = Row::load_unaligned(x + i * x_step);
  for (int round = 1; round < q; round *= 2) {
    for (int i = 0; i < q / 2; ++i) {
      mixed[2 * i] = xsimd::zip_lo(rows[i], rows[i + q / 2]);
      mixed[2 * i + 1] = xsimd::zip_hi(rows[i], rows[i + q / 2]);
    }
    rows = mixed;
  }
  for (int i = 0; i < q; ++i) rows[i].store_unaligned(y + i * y_step);
}

// y (columns, rows) = xᵀ of x (rows, columns)
template <class T>
void transpose(int64_t rows, int64_t columns, const T* x, int64_t x_step, T* y, int64_t y_step) {
  constexpr int q = square<T>;
  const int64_t whole_rows = rows / q * q, whole_columns = columns / q * q;
  for (int64_t i = 0; i < whole_rows; i += q)
    for (int64_t j = 0; j < whole_columns; j += q)
      transpose_square(x + i * x_step + j, x_step, y + j * y_step + i, y_step);
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

// panel = b (k, columns), padded with zeros.
template <class T>
void pack_panel(int64_t k, int64_t columns, const Strided<const T>& b, T* panel) {
  constexpr int64_t step = panel_columns<T>;
  if (columns < step) std::fill_n(panel, k * step, T{0});
  if (columns == step && b.column == 1)  // the common case, with a length the compiler knows
    for (int64_t l = 0; l < k; ++l) std::copy_n(b.at(l, 0), step, panel + l * step);
  else
    copy_matrix(k, columns, b, Strided<T>{panel, step, 1});
}

// c (rows, columns) = a · panel, through a buffer where c has no room for whole registers or is transposed.
template <class T>
void place_tile(int64_t k, int64_t rows, int64_t columns, const Strided<const T>& a, const T* panel, bool add,
                const Strided<T>& c) {
  constexpr int64_t step = panel_columns<T>;
  const auto multiply_tile = multiply_tiles<T>[(columns - 1) / width<T>][rows - 1];
  if (c.column == 1 && columns % width<T> == 0) return multiply_tile(k, a, panel, add, c.data, c.row);
  T buffer[tile_rows<T> * step];
  const Strided<T> tile{buffer, step, 1};
  if (add) {
    std::fill_n(buffer, rows * step, T{0});
    copy_matrix<T>(rows, columns, {c.data, c.row, c.column}, tile);
  }
  multiply_tile(k, a, panel, add, buffer, step);
  copy_matrix<T>(rows, columns, {buffer, step, 1}, c);
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

// The size of a piece where `length` is cut into equal pieces of at most `most`.
inline int64_t even_piece(int64_t length, int64_t most) {
  return chunk_count(length, std::max<int64_t>(1, chunk_count(length, most)));
}

// body(begin, count) for each block of 0 … n − 1, the last one shorter.
template <class Body>
void for_blocks(int64_t n, int64_t size, const Body& body) {
  for (int64_t begin = 0; begin < n; begin += size) body(begin, std::min(size, n - begin));
}

// Computes the product on the calling thread.
template <class T>
void multiply(const Product<T>& p) {
  constexpr int64_t step = panel_columns<T>, height = tile_rows<T>;
  assert(p.m >= 0 && p.n >= 0 && p.k >= 0);
  assert((p.a.row == 1 || p.a.column == 1) && (p.b.row == 1 || p.b.column == 1));
  assert(p.c.row == 1 || p.c.column == 1);
  const bool copy_a = p.a.column != 1;
  const int64_t depth = even_piece(p.k, block_depth);
  const int64_t fitting =
      block_bytes / (std::max<int64_t>(depth, 1) * step * static_cast<int64_t>(sizeof(T)));
  const int64_t block = step * even_piece(chunk_count(p.n, step), fitting);
  const int64_t rows = copy_a ? block_rows : std::max<int64_t>(p.m, 1);
  const Scratch<T> panels(block * depth), strips(copy_a ? rows * depth : 0);
  for_blocks(p.k, depth, [&](int64_t l, int64_t k) {
    for_blocks(p.n, block, [&](int64_t first, int64_t columns) {
      for_blocks(columns, step, [&](int64_t j, int64_t width) {
        pack_panel(k, width, p.b.from(l, first + j), panels.data() + j * k);
      });
      for_blocks(p.m, rows, [&](int64_t top, int64_t count) {
        if (copy_a) pack_strips(count, k, p.a.from(top, l), strips.data());
        for_blocks(count, height, [&](int64_t i, int64_t high) {
          const auto a = copy_a ? Strided<const T>{strips.data() + i * k, 1, height} : p.a.from(top + i, l);
          for_blocks(columns, step, [&](int64_t j, int64_t width) {
            place_tile(k, high, width, a, panels.data() + j * k, p.accumulate || l > 0,
                       p.c.from(top + i, first + j));
          });
        });
      });
    });
  });
}

}  // namespace isobar::kernels
