// 12 bytes an element of a triad count. A share above one is no mistake: a triad's plain store has to fetch its line
// first, while a step that writes what it has just read, like an optimizer's, has not.
#include <benchmark/benchmark.h>

#include "../../core/kernels/vmath.h"
#include "../../core/raw.h"
#include "../../experiments/run/machine_limits.h"
#include "timing.h"

namespace isobar::bench {

constexpr int64_t mib = 1 << 20;

// What the chain of additions computes: y = y + w for each op, and dw = dw + dy for each on the way back.
constexpr int64_t chain_ops = 10000, chain_size = 256;
Step additions_step() {
  constexpr int64_t lanes = kernels::width<float>;
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
    return std::max(rate(LimitPass(Pass::triad, work.footprint), work.footprint),
                    rate(LimitPass(Pass::streaming_triad, work.footprint), work.footprint));
  return 0;
}

void add_limits(Cases& cases) {
  constexpr double dram = 3 * 192 * mib, l3 = 3 * 8 * mib;
  const Work products{.unit = "GFLOP/s", .amount = LimitProducts().flops()},
      far{.unit = "GB/s", .amount = dram}, near{.unit = "GB/s", .amount = l3};
  cases.push_back({"limit_sgemm_512", products, [] { return LimitProducts(); }});
  cases.push_back({"limit_triad_dram", far, [] { return LimitPass(Pass::triad, dram); }});
  cases.push_back({"limit_triad_dram_streaming", far, [] { return LimitPass(Pass::streaming_triad, dram); }});
  cases.push_back({"limit_triad_l3", near, [] { return LimitPass(Pass::triad, l3); }});
}

}  // namespace isobar::bench
