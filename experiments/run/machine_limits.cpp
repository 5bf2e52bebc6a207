#include "machine_limits.h"

#include <algorithm>
#include <chrono>
#include <fstream>

#include "../../core/blas.h"
#include "../../core/kernels/vmath.h"
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

double triad_rate(double bytes) {
  LimitPass pass(Pass::triad, bytes);
  return pass.bytes() / fastest(pass);
}

using kernels::Store;
using Lanes = kernels::Vec<float>;
constexpr int64_t lanes = kernels::width<float>;
constexpr int64_t pass_grain = 16384;  // 64 KiB of each array

int64_t arrays_of(Pass pass) {
  if (pass == Pass::read) return 1;
  return pass == Pass::copy || pass == Pass::streaming_copy ? 2 : 3;
}

int64_t elements_of(Pass pass, double bytes) {
  const auto count = static_cast<int64_t>(bytes) / (4 * arrays_of(pass));
  return std::max(count / lanes * lanes, lanes);
}

// Several sums, so that no addition waits for the last one.
void read(const float* b, int64_t count, float* sums) {
  Lanes sum[4] = {};
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes)
    for (int64_t j = 0; j < 4; ++j) sum[j] += kernels::load(b + i + j * lanes);
  for (; i < count; i += lanes) sum[0] += kernels::load(b + i);
  kernels::store(sum[0] + sum[1] + (sum[2] + sum[3]), sums);
}

template <Store how>
void copy(const float* b, int64_t count, float* a) {
  for (int64_t i = 0; i < count; i += lanes) kernels::store<float>(kernels::load(b + i), a + i, how);
  kernels::finish_stores(how);
}

template <Store how>
void triad(const float* b, const float* c, int64_t count, float* a) {
  const Lanes scale = kernels::splat<Lanes>(0.5f);
  for (int64_t i = 0; i < count; i += lanes)
    kernels::store<float>(kernels::fma(scale, kernels::load(c + i), kernels::load(b + i)), a + i, how);
  kernels::finish_stores(how);
}

void pass_over(Pass pass, const float* b, const float* c, int64_t count, float* a) {
  if (pass == Pass::read) return read(b, count, a);
  if (pass == Pass::copy) return copy<Store::plain>(b, count, a);
  if (pass == Pass::streaming_copy) return copy<Store::streaming>(b, count, a);
  if (pass == Pass::triad) return triad<Store::plain>(b, c, count, a);
  triad<Store::streaming>(b, c, count, a);
}

// "32K", "1024K", "32M".
int64_t bytes_of(const std::string& size) {
  const int64_t number = std::atoll(size.c_str());
  return number * (size.ends_with('M') ? 1 << 20 : size.ends_with('K') ? 1 << 10 : 1);
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

LimitPass::LimitPass(Pass pass, double bytes)
    : pass_(pass),
      count_(elements_of(pass, bytes)),
      a_(zeros({pass == Pass::read ? chunk_count(count_, pass_grain) * lanes : count_})),
      b_(ones({count_})),
      c_(arrays_of(pass) == 3 ? ones({count_}) : b_) {}

void LimitPass::operator()() {
  float* const a = raw::write<float>(a_);
  const float *const b = b_.data<float>(), *const c = c_.data<float>();
  parallel_for(count_, pass_grain, [=, pass = pass_](int64_t begin, int64_t end) {
    float* const out = pass == Pass::read ? a + begin / pass_grain * lanes : a + begin;
    pass_over(pass, b + begin, c + begin, end - begin, out);
  });
}

double LimitPass::bytes() const { return 4.0 * static_cast<double>(arrays_of(pass_) * count_); }

double MachineLimits::bandwidth(double bytes) const {
  for (const Triad& triad : triads)
    if (bytes <= triad.bytes) return triad.rate;
  return triads.back().rate;
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

std::vector<Cache> data_caches() {
  std::vector<Cache> caches;
  for (int i = 0;; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string type, size;
    int level = 0;
    if (!(std::ifstream(folder + "type") >> type)) return caches;
    if (std::ifstream(folder + "level") >> level && std::ifstream(folder + "size") >> size &&
        type != "Instruction")
      caches.push_back({level, bytes_of(size)});
  }
}

}  // namespace isobar
