// How many of n values lie in each bin of a signed logarithmic scale whose bins are octaves. In one pass and in
// integers: the same counts for any number of threads.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "../parallel.h"

namespace isobar::kernels {

inline constexpr int octaves = 32;             // of each sign
inline constexpr int zeros_bin = 2 * octaves;  // after the bins of negative and positive values
inline constexpr int nan_bin = 2 * octaves + 1;
using OctaveCounts = std::array<int64_t, 2 * octaves + 2>;

// Bin 32 + k holds 2^(lowest + k) <= x < 2^(lowest + k + 1), bin 31 − k the same of −x. Smaller |x| count in the
// innermost bins, k = 0, larger ones and infinities in the outermost, k = 31.
template <class T>
int octave_bin(T x, int lowest) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr int mantissa = sizeof(T) == 4 ? 23 : 52, bias = sizeof(T) == 4 ? 127 : 1023;
  if (x == 0) return zeros_bin;
  if (x != x) return nan_bin;
  const auto exponent = static_cast<int>(std::bit_cast<Bits>(x) << 1 >> (mantissa + 1)) - bias;
  const int k = std::clamp(exponent - lowest, 0, octaves - 1);
  return x < 0 ? octaves - 1 - k : octaves + k;
}

template <class T>
OctaveCounts count_octaves(int64_t n, const T* x, int lowest) {
  constexpr int64_t grain = 1 << 15;
  std::vector<OctaveCounts> parts(static_cast<size_t>(chunk_count(n, grain)));
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    // Two tables by turns: neighbours often share a bin, and would wait for each other.
    OctaveCounts even{}, odd{};
    int64_t i = begin;
    for (; i + 1 < end; i += 2) {
      ++even[static_cast<size_t>(octave_bin(x[i], lowest))];
      ++odd[static_cast<size_t>(octave_bin(x[i + 1], lowest))];
    }
    if (i < end) ++even[static_cast<size_t>(octave_bin(x[i], lowest))];
    for (size_t bin = 0; bin < even.size(); ++bin) even[bin] += odd[bin];
    parts[static_cast<size_t>(begin / grain)] = even;
  });
  OctaveCounts counts{};
  for (const OctaveCounts& part : parts)
    for (size_t bin = 0; bin < counts.size(); ++bin) counts[bin] += part[bin];
  return counts;
}

}  // namespace isobar::kernels
