// Matrix products by our own kernel, cut into tiles over our own threads. Each element is one chain of fused
// multiply-adds in the order of K, whatever the shape, the tiles, the threads and the CPU.
#pragma once

#include <cstdint>
#include <string>

namespace isobar {

// C (M, N) = A · B, or C += A · B with `accumulate`, or C = A · B + bias with a bias (N) for every row. All
// row-major with leading dimensions (elements from row to row). A is (M, K), or stored as (K, M) with
// `transpose_a`; B is (K, N), or stored as (N, K) with `transpose_b`. Every dimension must be below 2^31. T
// is float or double; Operand, the type of A and B, is T or, where T is float, Bf16 (bf16.h).
template <class T, class Operand = T>
struct Gemm {
  bool transpose_a = false, transpose_b = false;
  int64_t m = 0, n = 0, k = 0;
  const Operand* a = nullptr;
  int64_t lda = 0;
  const Operand* b = nullptr;
  int64_t ldb = 0;
  T* c = nullptr;
  int64_t ldc = 0;
  bool accumulate = false;
  const T* bias = nullptr;  // not together with accumulate
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
  WithProducts& operator=(const WithProducts&) = delete;

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
