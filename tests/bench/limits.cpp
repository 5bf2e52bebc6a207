// The triad is a = b + s · c (McCalpin's STREAM): two arrays read, one written. 12 bytes an element count;
// that a plain store reads the line before it writes it does not, so a triad with streaming stores, which do
// not, is faster where the arrays do not fit the caches. A share above one is no mistake: a triad's store has to
// fetch its line first, while a step that writes what it has just read, like an optimizer's, has not.
#include <benchmark/benchmark.h>

#include "../../core/kernels/vmath.h"
#include "../../core/raw.h"
#include "../../experiments/run/machine_limits.h"
#include "timing.h"

namespace isobar::bench {

using Lanes = kernels::Vec<float>;
constexpr int64_t lanes = kernels::width<float>;
constexpr int64_t mib = 1 << 20;

using kernels::Store;

template <Store store>
void triad(float* a, const float* b, const float* c, int64_t count) {
  const Lanes scale = kernels::splat<Lanes>(0.5f);
  for (int64_t i = 0; i < count; i += lanes)
    kernels::store<float>(kernels::fma(scale, kernels::load(c + i), kernels::load(b + i)), a + i, store);
}

// Three arrays of `footprint` bytes together, walked by all threads.
template <Store store>
Step triad_step(double footprint) {
  constexpr int64_t grain = 16384;  // 64 KiB of each array
  const auto count = std::max<int64_t>(static_cast<int64_t>(footprint / 12) / lanes * lanes, lanes);
  return [count, a = zeros({count}), b = ones({count}), c = ones({count})]() mutable {
    float* out = raw::write<float>(a);
    parallel_for(count, grain, [out, x = b.data<float>(), y = c.data<float>()](int64_t begin, int64_t end) {
      triad<store>(out + begin, x + begin, y + begin, end - begin);
    });
  };
}

// What the chain of additions computes: y = y + w for each op, and dw = dw + dy for each on the way back.
constexpr int64_t chain_ops = 10000, chain_size = 256;
Step additions_step() {
  return [y = zeros({chain_size}), w = ones({chain_size})]() mutable {
    float* sum = raw::write<float>(y);
    for (int64_t i = 0; i < 2 * chain_ops; ++i) {
      for (int64_t j = 0; j < chain_size; j += lanes)
        kernels::store(kernels::load(sum + j) + kernels::load(w.data<float>() + j), sum + j);
      benchmark::ClobberMemory();
    }
  };
}

double limit_of(const Work& work, const TimingOptions& options) {
  const auto rate = [&](const Step& step, double amount) {
    return amount / time_step(step, options).median_seconds / 1e9;
  };
  if (work.limit == Limit::sgemm) return rate(LimitProducts(), LimitProducts().flops());
  if (work.limit == Limit::additions)
    return time_step(additions_step(), options).median_seconds / static_cast<double>(chain_ops) * 1e6;
  if (work.limit == Limit::triad)
    return std::max(rate(triad_step<Store::plain>(work.footprint), work.footprint),
                    rate(triad_step<Store::streaming>(work.footprint), work.footprint));
  return 0;
}

void add_limits(Cases& cases) {
  constexpr double dram = 3 * 192 * mib, l3 = 3 * 8 * mib;
  const Work products{.unit = "GFLOP/s", .amount = LimitProducts().flops()},
      far{.unit = "GB/s", .amount = dram}, near{.unit = "GB/s", .amount = l3};
  cases.push_back({"limit_sgemm_512", products, [] { return LimitProducts(); }});
  cases.push_back({"limit_triad_dram", far, [] { return triad_step<Store::plain>(dram); }});
  cases.push_back({"limit_triad_dram_streaming", far, [] { return triad_step<Store::streaming>(dram); }});
  cases.push_back({"limit_triad_l3", near, [] { return triad_step<Store::plain>(l3); }});
}

}  // namespace isobar::bench
