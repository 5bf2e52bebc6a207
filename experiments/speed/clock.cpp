#include "clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "../../core/parallel.h"
#include "../../core/tensor.h"

namespace isobar::speed {
namespace {

constexpr double batch_seconds = 50e-6;  // a thousand times the clock's own cost, and far below a time slice

int64_t how_many(double wanted, double each) {
  return std::max<int64_t>(1, std::llround(wanted / std::max(each, 1e-9)));
}

}  // namespace

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Rounds::Rounds(std::vector<Step> steps, double turn_seconds, Now now)
    : now_(std::move(now)), seconds_(steps.size()) {
  for (Step& step : steps) {
    step();  // brings in memory that later calls find again
    const double once = std::min({seconds_of(step, 1), seconds_of(step, 1), seconds_of(step, 1)});
    const int64_t repeats = how_many(std::min(batch_seconds, turn_seconds), once);
    turns_.push_back({.step = std::move(step),
                      .batches = how_many(turn_seconds, once * static_cast<double>(repeats)),
                      .repeats = repeats});
  }
}

double Rounds::seconds_of(const Step& step, int64_t repeats) const {
  const double start = now_();
  for (int64_t i = 0; i < repeats; ++i) step();
  return (now_() - start) / static_cast<double>(repeats);
}

void Rounds::round() {
  for (size_t i = 0; i < turns_.size(); ++i) {
    double least = std::numeric_limits<double>::infinity();
    for (int64_t batch = 0; batch < turns_[i].batches; ++batch)
      least = std::min(least, seconds_of(turns_[i].step, turns_[i].repeats));
    seconds_[i].push_back(least);
  }
}

std::vector<double> best_of_groups(const std::vector<double>& seconds) {
  const auto rounds = static_cast<int64_t>(seconds.size());
  check(rounds >= group_count, "best_of_groups: wanted at least {} rounds, got {}", group_count, rounds);
  std::vector<double> best;
  for (int64_t group = 0; group < group_count; ++group)
    best.push_back(*std::min_element(seconds.begin() + group * rounds / group_count,
                                     seconds.begin() + (group + 1) * rounds / group_count));
  return best;
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
