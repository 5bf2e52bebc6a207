// Bf16: the upper half of a float (sign, 8 bits of exponent, 7 of fraction), and matrix products on bf16
// operands.
//
//   const Bf16Copy a(x), b(w);                       // x (M, K), w (N, K)
//   gemm(Gemm<float, Bf16>{.m = M, .n = N, .k = K, .a = {a.data(), K}, .b = {b.data(), 1, K}, .c = {y, N}});
#pragma once

#include <memory>

#include "blas.h"
#include "storage.h"

namespace isobar {

class Tensor;

struct Bf16 {
  uint16_t bits;
};

// Rounds to the nearest bf16, ties to even. Values beyond the largest bf16 become infinity; NaN stays NaN.
Bf16 to_bf16(float x);
float to_float(Bf16 x);
// The same for n elements, on all threads.
void to_bf16(int64_t n, const float* x, Bf16* y);

// The numbers of an f32 tensor in row-major order, rounded to bf16. Copies of the handle share them.
class Bf16Copy {
 public:
  explicit Bf16Copy(const Tensor& x);
  const Bf16* data() const { return static_cast<const Bf16*>(storage_->data); }

 private:
  std::shared_ptr<Storage> storage_;
};

// C = A · B, or C += A · B; each product of two numbers is exact, sums are f32 (oneDNN). Uses all threads;
// the bits do not depend on their number. Throws Error where bf16_obstacle() is not empty, and for
// another start.
// Denormal operands may count as zero: the CPU's bf16 instructions flush them.
void gemm(const Gemm<float, Bf16>& product);

}  // namespace isobar
