// Matrix products by our own kernel, cut into tiles over our own threads. Each element is one chain of fused
// multiply-adds in the order of K, whatever the shape, the tiles, the threads and the CPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace isobar {

// A row-major matrix, `step` elements from row to row; where `transposed`, its transpose is stored so.
template <class T>
struct Stored {
  T* data = nullptr;
  int64_t step = 0;
  bool transposed = false;
};

// C (M, N) = A (M, K) · B (K, N), or C += A · B with `accumulate`, or C = A · B + bias with a bias (N) for every
// row. C is not stored transposed. Every dimension and step must be below 2^31. T is float or double; Operand,
// the type of A and B, is T or, where T is float, Bf16 (bf16.h).
template <class T, class Operand = T>
struct Gemm {
  int64_t m = 0, n = 0, k = 0;
  Stored<const Operand> a = {}, b = {};
  Stored<T> c = {};
  bool accumulate = false;
  const T* bias = nullptr;  // not together with accumulate

  // The part of it that gives C from (i, j) on, at most this large.
  Gemm tile(int64_t i, int64_t j, int64_t rows, int64_t columns) const {
    Gemm part = *this;
    part.m = std::min(rows, m - i);
    part.n = std::min(columns, n - j);
    part.a.data += a.transposed ? i : i * a.step;
    part.b.data += b.transposed ? j * b.step : j;
    part.c.data += i * c.step + j;
    if (bias != nullptr) part.bias += j;
    return part;
  }
};

// Computes the product on all threads. Throws Error for a dimension of 2^31 or more, and for a bias together
// with accumulate.
template <class T>
void gemm(const Gemm<T>& product);

// The same on the calling thread, for use inside parallel_for.
template <class T>
void gemm_serial(const Gemm<T>& product);

// Who computes products. `openblas`: OpenBLAS where it is faster, which is for few multiply-adds; its bits are
// those of the kernels that it chose for the CPU. It is held at one thread a call: its own threading changes
// bits with the thread count and slows skinny products. Its tiles depend on the shape alone, so the bits do
// not depend on the number of threads.
enum class Products { own, openblas };

// For all threads, while it lives.
class WithProducts {
 public:
  explicit WithProducts(Products wanted);
  ~WithProducts();
  WithProducts(const WithProducts&) = delete;

 private:
  const Products before_;
};

// Makes OpenBLAS map the buffers that products on all threads need, once; gemm() does so too. OpenBLAS itself
// would try for ever where there is no address space for them (ulimit -v): this throws Error.
void reserve_blas_buffers();

// The name of the kernels that OpenBLAS chose for this CPU ("SkylakeX", "Haswell", …), and its version.
std::string blas_core();
std::string blas_version();

}  // namespace isobar
