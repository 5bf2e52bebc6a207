// Rotary position embedding: pairs of channels of x (B, T, H, D) turned by an angle that grows with the
// position.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "map.h"

namespace isobar::kernels {

// cos and sin of (start + t) · base^(−2j/D) for t < T and j < D/2, computed in double.
template <class T>
struct RopeTable {
  RopeTable(int64_t time, int64_t dim, double base, int64_t start)
      : half(dim / 2), cos(time * half), sin(time * half) {
    std::vector<double> frequency(half);
    for (int64_t j = 0; j < half; ++j)
      frequency[j] = std::pow(base, -2 * static_cast<double>(j) / static_cast<double>(dim));
    parallel_for(time, 64, [&](int64_t begin, int64_t end) {
      for (int64_t t = begin; t < end; ++t)
        for (int64_t j = 0; j < half; ++j) {
          const double angle = static_cast<double>(start + t) * frequency[j];
          cos[t * half + j] = static_cast<T>(std::cos(angle));
          sin[t * half + j] = static_cast<T>(std::sin(angle));
        }
    });
  }
  int64_t half;
  std::vector<T> cos, sin;
};

// (a, b) → (a cos − b sin, a sin + b cos) for each pair; `turn` is 1, or −1 to turn back. The channels of
// pair j are j and j + D/2, or 2j and 2j + 1 when interleaved.
template <class T>
void rope(int64_t batch, int64_t time, int64_t heads, const RopeTable<T>& table, bool interleaved, T turn,
          const T* x, T* y) {
  const int64_t half = table.half, dim = 2 * half;
  const int64_t step = interleaved ? 2 : 1, partner = interleaved ? 1 : half;
  const int64_t grain = std::max<int64_t>(1, map_grain / std::max<int64_t>(heads * dim, 1));
  parallel_for(batch * time, grain, [&](int64_t begin, int64_t end) {
    for (int64_t bt = begin; bt < end; ++bt) {
      const T *cos = table.cos.data() + bt % time * half, *sin = table.sin.data() + bt % time * half;
      for (int64_t h = 0; h < heads; ++h) {
        const T* a = x + (bt * heads + h) * dim;
        T* out = y + (bt * heads + h) * dim;
        for (int64_t j = 0; j < half; ++j) {
          const T p = a[j * step], q = a[j * step + partner], s = turn * sin[j];
          out[j * step] = p * cos[j] - q * s;
          out[j * step + partner] = p * s + q * cos[j];
        }
      }
    }
  });
}

}  // namespace isobar::kernels
