// What this machine can do at present, measured with the threads in use: products of matrices, and passes over memory.
//
//   const MachineLimits limits = measure_limits();  // takes a fraction of a second
//   fmt::print("{:.0f} GFLOP/s, {:.0f} GB/s\n", limits.product / 1e9, limits.bandwidth(1e9) / 1e9);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../core/tensor.h"

namespace isobar {

// Products of f32 matrices of 512 × 512 on all threads, several a thread, so that all are busy to the end.
class LimitProducts {
 public:
  LimitProducts();

  void operator()();
  double flops() const;  // of one call

 private:
  const Tensor a_, b_;
  Tensor c_;
};

// What a pass does with each element: read a; a = b; a = b + s · c (McCalpin's STREAM). A plain store reads the line
// that it overwrites; a streaming store does not, and is faster where the arrays do not fit the caches.
enum class Pass { read, copy, streaming_copy, triad, streaming_triad };

// A pass over f32 arrays of `bytes` bytes together (one array, two or three), on all threads.
class LimitPass {
 public:
  LimitPass(Pass pass, double bytes);

  void operator()();
  double bytes() const;  // of one call; what a plain store reads does not count

 private:
  const Pass pass_;
  const int64_t count_;  // of the elements of an array
  Tensor a_;             // for Pass::read: a register of sums for each chunk
  const Tensor b_, c_;
};

struct MachineLimits {
  int threads = 1;
  double product = 0;  // flops a second, in LimitProducts
  // A triad over three arrays of so many bytes together.
  struct Triad {
    double bytes, rate;  // rate: bytes a second
  };
  std::vector<Triad> triads;  // from the smallest, in the first-level cache, to one beyond all caches

  // Bytes a second, for work that touches so many: that of the smallest triad which touches as many.
  double bandwidth(double bytes) const;
};

MachineLimits measure_limits();

// A cache for data that the first CPU uses.
struct Cache {
  int level;
  int64_t bytes;
};
// From the first level to the last; empty where the system does not tell.
std::vector<Cache> data_caches();

}  // namespace isobar
