// A part of the program that uses xsimd alone, compiled with other options than the library's kernels.
#include <xsimd/xsimd.hpp>

// y = the sum of some functions of x, for a whole number of registers.
void neighbour(const float* x, float* y, int count) {
  using V = xsimd::batch<float>;
  for (int i = 0; i + static_cast<int>(V::size) <= count; i += V::size) {
    const V v = V::load_unaligned(x + i), up = xsimd::abs(v);
    V(xsimd::exp(v) + xsimd::expm1(v) + xsimd::log(up) + xsimd::log1p(up) + xsimd::sin(v) + xsimd::cos(v) +
      xsimd::erf(v))
        .store_unaligned(y + i);
  }
}
