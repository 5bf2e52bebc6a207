// Matrix products by our own kernel, cut into tiles over our own threads. Each element is one chain of fused
// multiply-adds in the order of K, whatever the shape, the tiles, the threads and the CPU.
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
  // From (i, j) on.
  Strided from(int64_t i, int64_t j) const { return {data != nullptr ? at(i, j) : nullptr, row, column}; }
  Strided transposed() const { return {data, column, row}; }
  // Whether its rows are stored one after the other; else its columns are.
  bool by_rows(int64_t columns) const { return column == 1 && row >= columns; }
  operator Strided<const T>() const requires(!std::is_const_v<T>) { return {data, row, column}; }
};

// C (m, n) = start (m, n) + A (m, k) · B (k, n). Without data, start is zero; it is C itself where C += A · B,
// and {bias, 0} repeats a row. A and B have contiguous rows or columns, C contiguous rows. Every dimension and
// step is below 2^31. T is float or double.
template <class T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  Strided<const T> a = {}, b = {};
  Strided<const T> start = {};
  Strided<T> c = {};

  // The part of it that gives C from (i, j) on, at most this large.
  Gemm tile(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    return {std::min(rows, m - i), std::min(columns, n - j), k,           a.from(i, 0),
            b.from(0, j),          start.from(i, j),         c.from(i, j)};
  }
  // Cᵀ = startᵀ + Bᵀ · Aᵀ, the same numbers.
  Gemm transposed() const {
    return {n, m, k, b.transposed(), a.transposed(), start.transposed(), c.transposed()};
  }
  // C = start, the product where k is 0.
  void copy_start() const {
    if (start.data == c.data) return;
    for (int64_t i = 0; i < m; ++i)
      start.data != nullptr ? std::copy_n(start.at(i, 0), n, c.at(i, 0)) : std::fill_n(c.at(i, 0), n, T{0});
  }
  // For assert: whether the matrices have elements, stored as said above, and C those of no operand.
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

// Computes the product on all threads; inside parallel_for, on the calling thread. Throws Error for a dimension
// of 2^31 or more.
template <class T>
void gemm(const Gemm<T>& product);

// Who computes products. `openblas`: OpenBLAS where it is faster, which is for few multiply-adds; its bits are
// those of the kernels that it chose for the CPU. It is held at one thread a call, in the program's own calls
// too (openblas_set_num_threads(1)): its own threading changes bits with the thread count and slows skinny
// products. Its tiles depend on the shape alone, so the bits do not depend on the number of threads.
enum class Products { own, openblas };

// For all threads, while it lives. OpenBLAS is a plugin, opened here for the first time. Throws Error where there
// is none.
class WithProducts {
 public:
  [[nodiscard]] explicit WithProducts(Products wanted);
  ~WithProducts();
  WithProducts(const WithProducts&) = delete;

 private:
  const Products before_;
};

// "own" or "openblas"; throws Error for any other name.
Products products_from_name(const std::string& name);

// Who computes products now: "own" or "OpenBLAS 0.3.21"; and by what: our own kernels by the registers that they
// were built for ("AVX-512", "AVX2", "NEON"), OpenBLAS by those that it chose for this CPU ("SkylakeX", …).
std::string blas_version();
std::string blas_core();

}  // namespace isobar
