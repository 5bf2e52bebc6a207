#include "clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "../../core/parallel.h"
#include "../../core/tensor.h"

namespace isobar::speed {
namespace {

double seconds_of(const Step& step, int64_t repeats) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  for (int64_t i = 0; i < repeats; ++i) step();
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
}

// Warms up, too: the first calls bring in memory that later ones find again.
int64_t repeats_for(const Step& step, double turn_seconds) {
  step();
  const double once = std::min(seconds_of(step, 1), seconds_of(step, 1));
  return std::max<int64_t>(1, std::llround(turn_seconds / std::max(once, 1e-9)));
}

}  // namespace

std::vector<std::vector<double>> time_rounds(const std::vector<Step>& steps, int64_t rounds,
                                             double turn_seconds) {
  std::vector<int64_t> repeats;
  for (const Step& step : steps) repeats.push_back(repeats_for(step, turn_seconds));
  std::vector<std::vector<double>> seconds(steps.size());
  for (int64_t round = 0; round < rounds; ++round)
    for (size_t i = 0; i < steps.size(); ++i) seconds[i].push_back(seconds_of(steps[i], repeats[i]));
  return seconds;
}

Step triad_step(int64_t count) {
  constexpr int64_t grain = 16384;  // 64 KiB of each array
  return [count, a = std::vector<float>(count), b = std::vector<float>(count, 1),
          c = std::vector<float>(count, 1)]() mutable {
    parallel_for(count, grain, [out = a.data(), x = b.data(), y = c.data()](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) out[i] = x[i] + 0.5f * y[i];
    });
  };
}

}  // namespace isobar::speed
