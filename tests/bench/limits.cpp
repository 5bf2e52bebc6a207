// The triad is a = b + s · c (McCalpin's STREAM): two arrays read, one written. 12 bytes an element count;
// that a plain store reads the line before it writes it does not, so a triad with streaming stores, which do
// not, is faster where the arrays do not fit the caches.
#include "limits.h"

#include <benchmark/benchmark.h>

#include "../../core/kernels/vmath.h"
#include "../../core/raw.h"
#include "../../experiments/harness/machine_limits.h"

namespace isobar::bench {

using Lanes = kernels::Register<float>;
constexpr auto lanes = static_cast<int64_t>(Lanes::size);
constexpr int64_t kib = 1024, mib = 1024 * kib;

enum class Store { plain, streaming };

template <Store store>
void triad(float* a, const float* b, const float* c, int64_t count) {
  const Lanes scale(0.5f);
  for (int64_t i = 0; i < count; i += lanes) {
    const Lanes sum = xsimd::fma(scale, Lanes::load_aligned(c + i), Lanes::load_aligned(b + i));
#ifdef __SSE__
    if constexpr (store == Store::streaming) {
      alignas(Lanes::arch_type::alignment()) float values[lanes];
      sum.store_aligned(values);
      for (int64_t j = 0; j < lanes; j += 4) _mm_stream_ps(a + i + j, _mm_load_ps(values + j));
      continue;
    }
#endif
    sum.store_aligned(a + i);
  }
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

// Each thread walks arrays of its own, small enough for its L2, over and over.
constexpr int64_t l2_footprint = 384 * kib, l2_walks = 64;
Step l2_triad_step() {
  constexpr int64_t count = l2_footprint / 12 / lanes * lanes;
  return
      [a = zeros({threads(), count}), b = ones({threads(), count}), c = ones({threads(), count})]() mutable {
        float* out = raw::write<float>(a);
        parallel_for(threads(), 1, [&](int64_t begin, int64_t) {
          const int64_t own = begin * count;
          for (int64_t walk = 0; walk < l2_walks; ++walk)
            triad<Store::plain>(out + own, b.data<float>() + own, c.data<float>() + own, count);
        });
      };
}

// Several pieces a thread, so that all are busy to the end.
int64_t pieces() { return 4 * threads(); }

// Independent chains of fused multiply-adds on registers, enough of them to hide an addition's four cycles in
// two units. The pack of indices names each chain, so that none stands in memory.
constexpr int64_t chains = 12, fma_rounds = 100000;
template <size_t... chain>
Lanes fma_chains(float start, std::index_sequence<chain...>) {
  Lanes sums[] = {Lanes(start + static_cast<float>(chain))...};
  const Lanes factor(0.999f), term(0.001f);
  for (int64_t round = 0; round < fma_rounds; ++round)
    ((sums[chain] = xsimd::fma(sums[chain], factor, term)), ...);
  return (sums[chain] + ...);
}

Step fma_step() {
  return [] {
    parallel_for(pieces(), 1, [](int64_t begin, int64_t) {
      benchmark::DoNotOptimize(fma_chains(static_cast<float>(begin), std::make_index_sequence<chains>()));
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
        (Lanes::load_aligned(sum + j) + Lanes::load_aligned(w.data<float>() + j)).store_aligned(sum + j);
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
  const auto gigabytes = [](double bytes) { return Work{.unit = "GB/s", .amount = bytes}; };
  const auto gigaflops = [](double flops) { return Work{.unit = "GFLOP/s", .amount = flops}; };
  constexpr double dram = 3 * 192 * mib, l3 = 3 * 8 * mib;
  const double flops_per_piece = 2.0 * chains * fma_rounds * lanes;
  cases.push_back({"limit_fma", gigaflops(static_cast<double>(pieces()) * flops_per_piece), fma_step});
  cases.push_back({"limit_sgemm_512", gigaflops(LimitProducts().flops()), [] { return LimitProducts(); }});
  cases.push_back({"limit_triad_dram", gigabytes(dram), [] { return triad_step<Store::plain>(dram); }});
  cases.push_back(
      {"limit_triad_dram_streaming", gigabytes(dram), [] { return triad_step<Store::streaming>(dram); }});
  cases.push_back({"limit_triad_l3", gigabytes(l3), [] { return triad_step<Store::plain>(l3); }});
  const double l2 = static_cast<double>(threads() * l2_walks * l2_footprint);
  cases.push_back({"limit_triad_l2", gigabytes(l2), l2_triad_step});
}

}  // namespace isobar::bench
