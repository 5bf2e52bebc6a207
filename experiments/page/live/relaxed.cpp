// The products by relaxed SIMD: a module of its own, for browsers that have that. It works in the memory of
// the other module and keeps nothing, not even a stack.
#include "product.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))

EXPORT(multiply) void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  isobar::live::multiply(a, b, c, m, k, n);
}
// a² + c: a page sees by it whether this processor rounds once.
EXPORT(fused) float fused(float a, float c) {
  const v128_t all = wasm_f32x4_splat(a);
  return wasm_f32x4_extract_lane(isobar::live::fused(all, all, wasm_f32x4_splat(c)), 0);
}
