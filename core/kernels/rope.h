// Rotary position embedding: pairs of channels of x (B, T, H, D) turned by an angle that grows with the
// position. B batch, T time, H heads, D channels of a head.
#pragma once

#include <vector>

#include "functions.h"
#include "map.h"

namespace isobar::kernels {

// Identifies a table of angles: `time` positions from `start` on, for heads of `dim` channels.
struct RopeKey {
  int64_t time, dim;
  double base;
  int64_t start;
  bool operator==(const RopeKey&) const = default;
};

// cos and sin of (start + t) · base^(−2j/D) for t < T and j < D/2, computed in double by functions.h.
template <class T>
struct RopeTable {
  explicit RopeTable(const RopeKey& wanted)
      : key(wanted), half(key.dim / 2), cos(key.time * half), sin(key.time * half) {
    std::vector<double> frequency(half);
    for (int64_t j = 0; j < half; ++j)
      frequency[j] = pow(key.base, -2 * static_cast<double>(j) / static_cast<double>(key.dim));
    parallel_each(key.time, 64, [&](int64_t t) {
      for (int64_t j = 0; j < half; ++j) {
        const double angle = static_cast<double>(key.start + t) * frequency[j];
        cos[t * half + j] = static_cast<T>(kernels::cos(angle));
        sin[t * half + j] = static_cast<T>(kernels::sin(angle));
      }
    });
  }
  const RopeKey key;
  const int64_t half;
  std::vector<T> cos, sin;
};

// (a, b) → (a cos − b sin, a sin + b cos) for each of `half` pairs of one head. `turn` is 1, or −1 for the
// inverse. Pair j is channels j and j + half.
template <class T>
void turn_halves(int64_t half, const T* cos, const T* sin, T turn, const T* __restrict x, T* __restrict y) {
  for (int64_t j = 0; j < half; ++j) {
    const T s = turn * sin[j];
    y[j] = x[j] * cos[j] - x[j + half] * s;
    y[j + half] = x[j] * s + x[j + half] * cos[j];
  }
}
// The same where pair j is channels 2j and 2j + 1.
template <class T>
void turn_neighbours(int64_t half, const T* cos, const T* sin, T turn, const T* __restrict x,
                     T* __restrict y) {
  for (int64_t j = 0; j < half; ++j) {
    const T s = turn * sin[j];
    y[2 * j] = x[2 * j] * cos[j] - x[2 * j + 1] * s;
    y[2 * j + 1] = x[2 * j] * s + x[2 * j + 1] * cos[j];
  }
}

// y = x rotated, for every head of every token of x (B, T, H, D); both contiguous and apart.
template <class T>
void rope(int64_t batch, int64_t heads, const RopeTable<T>& table, bool interleaved, T turn, const T* x,
          T* y) {
  const int64_t time = table.key.time, half = table.half, dim = table.key.dim;
  assert(valid_arrays(batch * time * heads * dim, x, y) && x != y && dim % 2 == 0);
  const auto turn_head = interleaved ? turn_neighbours<T> : turn_halves<T>;
  parallel_each(batch * time, grain_of_rows(heads * dim, map_grain), [&](int64_t token) {
    const int64_t t = token % time;
    for (int64_t i = token * heads; i < (token + 1) * heads; ++i)
      turn_head(half, &table.cos[t * half], &table.sin[t * half], turn, x + i * dim, y + i * dim);
  });
}

}  // namespace isobar::kernels
