// Matrix products by our own kernel, in tiles that several threads compute. Each element is one chain of
// fused multiply-adds in the order of K. It does not depend on the shape, the tiles, the threads and the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

namespace isobar {

// A matrix whose element (i, j) is data[i · row + j · column]: {x, step} has contiguous rows, {x, 1, step}
// contiguous columns.
template <class T>
struct Strided {
  T* data = nullptr;
  int64_t row = 0, column = 1;

  T* at(int64_t i, int64_t j) const { return data + i * row + j * column; }
  // The matrix that starts at (i, j).
  Strided from(int64_t i, int64_t j) const { return {data != nullptr ? at(i, j) : nullptr, row, column}; }
  Strided transposed() const { return {data, column, row}; }
  // Whether rows are contiguous; otherwise columns are.
  bool by_rows(int64_t columns) const { return column == 1 && row >= columns; }
  operator Strided<const T>() const requires(!std::is_const_v<T>) { return {data, row, column}; }
};

// C (m, n) = start (m, n) + A (m, k) · B (k, n). Without data, start is zero; it is C itself where C += A ·
// B, and {bias, 0} repeats a row. A and B have contiguous rows or columns, C contiguous rows. Every dimension
// and step is below 2^31. T is float or double.
template <class T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  Strided<const T> a = {}, b = {};
  Strided<const T> start = {};
  Strided<T> c = {};

  // The tile of C that starts at (i, j), at most this large.
  Gemm tile(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return {std::min(rows, m - i), std::min(columns, n - j), k,           a.from(i, 0),
            b.from(0, j),          start.from(i, j),         c.from(i, j)};
  }
  // Cᵀ = startᵀ + Bᵀ · Aᵀ, the same numbers.
  Gemm transposed() const {
    return {n, m, k, b.transposed(), a.transposed(), start.transposed(), c.transposed()};
  }
  // Copies start to C: the product if k is 0.
  void copy_start() const {
    if (start.data == c.data) return;
    for (int64_t i = 0; i < m; ++i)
      start.data != nullptr ? std::copy_n(start.at(i, 0), n, c.at(i, 0)) : std::fill_n(c.at(i, 0), n, T{0});
  }
  // For assert: whether all matrices have data and the layout above, and C does not alias A or B.
  bool valid() const {
    const bool no_c = m == 0 || n == 0, no_sums = no_c || k == 0;
    const void* const out = c.data;
    return m >= 0 && n >= 0 && k >= 0 && (no_c || (c.data != nullptr && c.by_rows(n))) &&
           (no_c || start.data != c.data || start.row == c.row) &&
           (no_sums || (out != a.data && out != b.data)) &&
           (no_sums || (a.data != nullptr && (a.by_rows(k) || a.transposed().by_rows(m)))) &&
           (no_sums || (b.data != nullptr && (b.by_rows(n) || b.transposed().by_rows(k))));
  }
};

// Computes the product on all threads; inside parallel_for, on the calling thread. Throws Error for a
// dimension of 2^31 or more.
template <class T>
void gemm(const Gemm<T>& product);

// The library that computes products. `openblas` uses OpenBLAS for products with few multiply-adds, where it
// is faster; the results then depend on the kernels that it chose for the CPU. OpenBLAS is limited to one
// thread for each call, also for calls of the program (openblas_set_num_threads(1)): with more threads its
// results depend on their number, and narrow products are slower. Our tiles for it depend only on the shape,
// so results do not depend on the number of threads.
enum class Products { own, openblas };

// Sets the library for products in a block of code, for all threads. OpenBLAS is a plugin, which is loaded at
// the first use. Throws Error if there is none.
class WithProducts {
 public:
  [[nodiscard]] explicit WithProducts(Products wanted);
  ~WithProducts();
  WithProducts(const WithProducts&) = delete;

 private:
  const Products before_;
};

// Returns Products::own for "own" and Products::openblas for "openblas". Throws Error for any other name.
Products products_from_name(const std::string& name);

// Returns the library that computes products now: "own" or "OpenBLAS 0.3.21".
std::string blas_version();
// Returns the kernels of that library: the registers for which ours were built ("AVX-512", "AVX2", "NEON"),
// or those that OpenBLAS chose for this CPU ("SkylakeX", …).
std::string blas_core();

}  // namespace isobar
