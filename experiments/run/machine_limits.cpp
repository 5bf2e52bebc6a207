#include "machine_limits.h"

#include <algorithm>
#include <chrono>

#include "../../core/blas.h"
#include "../../core/parallel.h"
#include "../../core/raw.h"

namespace isobar {
namespace {

// Seconds of the fastest of several repetitions.
template <class F>
double fastest(F step) {
  using Clock = std::chrono::steady_clock;
  constexpr double enough = 0.02;
  double best = 1e9, total = 0;
  for (int i = 0; i < 3 || (total < enough && i < 1000); ++i) {
    const Clock::time_point start = Clock::now();
    step();
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::min(best, took);
    total += took;
  }
  return best;
}

constexpr int64_t side = 512;  // of the matrices of LimitProducts

double product_rate() {
  LimitProducts products;
  return products.flops() / fastest(products);
}

}  // namespace

LimitProducts::LimitProducts()
    : a_(full({side, side}, 0.5)),
      b_(full({side, side}, 0.25)),
      c_({4 * threads(), side, side}, Dtype::f32) {}

void LimitProducts::operator()() {
  float* const c = raw::write<float>(c_);
  parallel_for(c_.size(0), 1, [&](int64_t begin, int64_t) {
    gemm<float>({.m = side,
                 .n = side,
                 .k = side,
                 .a = {a_.data<float>(), side},
                 .b = {b_.data<float>(), side},
                 .c = {c + begin * side * side, side}});
  });
}

double LimitProducts::flops() const { return 2.0 * side * side * side * static_cast<double>(c_.size(0)); }

double MachineLimits::bandwidth(double bytes) const {
  for (const Triad& triad : triads)
    if (bytes <= triad.bytes) return triad.rate;
  return triads.back().rate;
}

double triad_rate(double bytes) {
  constexpr int64_t triad_grain = 16384;
  const auto n = static_cast<int64_t>(bytes / 12);
  Tensor sum = zeros({n});
  const Tensor x = ones({n}), y = ones({n});
  float* const a = raw::write<float>(sum);
  const float *const b = x.data<float>(), *const c = y.data<float>();
  const double seconds = fastest([&] {
    parallel_for(n, triad_grain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) a[i] = b[i] + 0.5f * c[i];
    });
  });
  return bytes / seconds;
}

MachineLimits measure_limits() {
  constexpr int64_t kib = 1024, mib = 1024 * kib;
  MachineLimits limits{.threads = threads(), .product = product_rate(), .triads = {}};
  for (const int64_t bytes : {24 * kib, 512 * kib, 4 * mib, 24 * mib, 128 * mib}) {
    const auto size = static_cast<double>(bytes);
    limits.triads.push_back({size, triad_rate(size)});
  }
  return limits;
}

}  // namespace isobar
