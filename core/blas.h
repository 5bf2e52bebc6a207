// Matrix products: our own kernel for the shapes where it is faster, OpenBLAS for the others, both cut into
// tiles over our own threads.
//
// OpenBLAS is held at one thread per call: its own threading changes result bits with the thread count and
// slows skinny products. Which kernel runs, and OpenBLAS's tiles, depend on the shape alone; the bits of our
// kernel do not depend on its tiles; K is never split. So the bits do not depend on the number of threads.
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

// Makes OpenBLAS map the buffers that products on all threads need, once; gemm() does so too. OpenBLAS itself
// would try for ever where there is no address space for them (ulimit -v): this throws Error.
void reserve_blas_buffers();

// The name of the kernels that OpenBLAS chose for this CPU ("SkylakeX", "Haswell", …), and its version.
std::string blas_core();
std::string blas_version();
// A warning when the CPU has AVX-512 but OpenBLAS runs older kernels (OPENBLAS_CORETYPE may force that),
// which costs more than a third of the speed; otherwise an empty string.
std::string blas_warning();

}  // namespace isobar
