#include "bf16.h"

#include <bit>

#include "object_memory.h"
#include "parallel.h"
#include "precision.h"
#include "raw.h"

namespace isobar {
namespace {

// Rounds to nearest even: adding just under half of the last kept bit, and that bit itself, carries into it
// exactly when the next bf16 is the nearest one. A carry out of the fraction raises the exponent, at the
// largest value to infinity. A carry could turn a NaN into a number, so a NaN is truncated and made quiet,
// which keeps its fraction from being zero.
uint16_t rounded(uint32_t bits) {
  const uint32_t nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t quiet = bits >> 16 | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : nearest);
}

constexpr int64_t grain = 1 << 16;  // elements in one chunk

}  // namespace

Bf16 to_bf16(float x) { return {rounded(std::bit_cast<uint32_t>(x))}; }

float to_float(Bf16 x) { return std::bit_cast<float>(uint32_t{x.bits} << 16); }

void to_bf16(int64_t n, const float* x, Bf16* y) {
  parallel_for(n, grain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) y[i] = to_bf16(x[i]);
  });
}

Bf16Copy::Bf16Copy(const Tensor& x)
    : storage_(std::allocate_shared<Storage>(ObjectAllocator<Storage>(), x.numel() * sizeof(Bf16))) {
  to_bf16(x.numel(), raw::contiguous(x).data<float>(), static_cast<Bf16*>(storage_->data));
}

std::string_view name_of(Precision precision) { return precision == Precision::f32 ? "f32" : "bf16"; }

Precision precision_from_name(std::string_view name) {
  for (const Precision precision : {Precision::f32, Precision::bf16})
    if (name == name_of(precision)) return precision;
  throw_error(fmt::format("precision: wanted f32 or bf16, got '{}'", name));
}

}  // namespace isobar
