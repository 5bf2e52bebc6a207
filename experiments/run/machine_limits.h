// MachineLimits: what this machine can do at present, measured with the threads in use in a fraction of a
// second.
//
//   const MachineLimits limits = measure_limits();
//   fmt::print("{:.0f} GFLOP/s, {:.0f} GB/s\n", limits.product / 1e9, limits.bandwidth(1e9) / 1e9);
#pragma once

#include <cstdint>
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

struct MachineLimits {
  int threads = 1;
  double product = 0;  // flops a second, in LimitProducts
  // A triad a = b + s · c (McCalpin's STREAM) over three arrays of so many bytes together.
  struct Triad {
    double bytes, rate;  // rate: bytes a second
  };
  std::vector<Triad> triads;  // from the smallest, in the first-level cache, to one beyond all caches

  // Bytes a second, for work that touches so many: that of the smallest triad which touches as many.
  double bandwidth(double bytes) const;
};

MachineLimits measure_limits();
// Bytes a second of one triad over arrays of so many bytes together (12 at least).
double triad_rate(double bytes);

}  // namespace isobar
