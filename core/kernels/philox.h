// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): 128 random bits from a
// 64-bit counter and a 64-bit key.
#pragma once

#include <cstdint>

namespace isobar::kernels {

// Counters computed together, so that compilers use vector instructions.
inline constexpr int philox_lanes = 32;

// Two 64-bit words for each of the counters first … first + Lanes − 1. The rounds are the outer loop, so that
// the inner one does the same to all counters.
template <int Lanes>
void philox(uint64_t first, uint64_t key, uint64_t* words) {
  uint32_t x0[Lanes], x1[Lanes], x2[Lanes] = {}, x3[Lanes] = {};
  for (int i = 0; i < Lanes; ++i) {
    x0[i] = static_cast<uint32_t>(first + i);
    x1[i] = static_cast<uint32_t>((first + i) >> 32);
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < Lanes; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53} * x0[i];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * x2[i];
      x0[i] = static_cast<uint32_t>(p1 >> 32) ^ x1[i] ^ k0;
      x1[i] = static_cast<uint32_t>(p1);
      x2[i] = static_cast<uint32_t>(p0 >> 32) ^ x3[i] ^ k1;
      x3[i] = static_cast<uint32_t>(p0);
    }
    k0 += 0x9E3779B9;  // golden ratio
    k1 += 0xBB67AE85;  // sqrt(3) − 1
  }
  for (int i = 0; i < Lanes; ++i) {
    words[2 * i] = x0[i] | uint64_t{x1[i]} << 32;
    words[2 * i + 1] = x2[i] | uint64_t{x3[i]} << 32;
  }
}

}  // namespace isobar::kernels
