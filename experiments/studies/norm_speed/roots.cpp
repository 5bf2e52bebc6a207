#include "roots.h"

#include "../../../autograd/ops.h"
#include "../../../core/kernels/vmath.h"
#include "timed.h"

namespace isobar::speed {
namespace {

using V = kernels::Vec<float>;

// The CPU's own estimate of 1/√x.
V estimate(V x) {
#if defined(__AVX512F__)
  return _mm512_maskz_rsqrt14_ps(__mmask16(-1), x);
#elif defined(__AVX2__) && defined(__FMA__)
  return _mm256_rsqrt_ps(x);
#elif defined(__aarch64__)
  return vrsqrteq_f32(x);
#else
  return 1.0f / kernels::sqrt(x);
#endif
}

struct Arrays {
  std::vector<float> x, between, y;

  explicit Arrays(int64_t count) : between(count), y(count) {
    const Tensor squares = square(Rng(1).normal({count})) + 0.1;
    x = squares.to_vector<float>();
  }
  template <class F>
  static void map(const std::vector<float>& from, std::vector<float>& to, const F& f) {
    kernels::map_registers(static_cast<int64_t>(from.size()), to.data(), f, from.data());
  }
  void exact() {
    map(x, y, [](V v) { return 1.0f / kernels::sqrt(v); });
  }
  void two_loops() {
    map(x, between, [](V v) { return kernels::sqrt(v); });
    map(between, y, [](V v) { return 1.0f / v; });
  }
  void newton() {
    map(x, y, [](V v) {
      const V r = estimate(v);
      return r * (1.5f - 0.5f * v * r * r);
    });
  }
  double largest_error() const {
    double largest = 0;
    for (size_t i = 0; i < x.size(); ++i)
      largest = std::max(largest, std::abs(y[i] * std::sqrt(static_cast<double>(x[i])) - 1));
    return largest;
  }
};

double error_of_estimate(int64_t count) {
  Arrays arrays(count);
  arrays.newton();
  return arrays.largest_error();
}

std::vector<Step> steps_of(int64_t count) {
  const auto arrays = std::make_shared<Arrays>(count);
  return {[arrays] { arrays->exact(); }, [arrays] { arrays->two_loops(); }, [arrays] { arrays->newton(); }};
}

}  // namespace

Roots::Roots(int64_t n) : count(n), error(error_of_estimate(n)), rounds(steps_of(n), 2e-3) {}

void Roots::publish(Run& run) const {
  const std::string key = fmt::format("root.{}", count);
  const Spread two_loops = spread_of(two_loops_over_one()), exact = spread_of(exact_over_estimate());
  run.measured(key + ".two_loops_over_one.best", two_loops);
  run.measured(key + ".exact_over_estimate.best", exact);
  run.measured(key + ".estimate.relative_error", error);
  run.say(
      "1/√x of {} numbers: two loops take {} times the time of one, which is\n"
      "{} times that of the CPU's estimate and a Newton step (off by {:.1e}).\n",
      count, range_text(two_loops, 2), range_text(exact, 2), error);
}

}  // namespace isobar::speed
