#include "clock.h"

#include <cstdlib>
#include <ctime>
#include <numeric>

#include "../../core/parallel.h"

namespace isobar::speed {
namespace {

constexpr double batch_seconds = 50e-6;  // a thousand times the clock's own cost, and far below a time slice

int64_t how_many(double wanted, double each) {
  return std::max<int64_t>(1, std::llround(wanted / std::max(each, 1e-9)));
}

// CPU time of the calling thread, in seconds.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Each step waits for the last one, and none reads memory. Volatile keeps the loop between its clocks.
void arithmetic(volatile double& x) {
  double sum = x;
  for (int i = 0; i < 200'000; ++i) sum = sum * 0.999999 + 1e-6;
  x = sum;
}

// The value below which this share of the values lies.
double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
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

std::vector<double> Rounds::best_quotients(size_t a, size_t b) const {
  return pairwise(best_of_groups(seconds_[a]), best_of_groups(seconds_[b]), std::divides());
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

void Machine::turn() {
  // Many pieces for each thread: one that starts late leaves its pieces to the others.
  const int pieces = 16 * threads();
  std::vector<double> computed(static_cast<size_t>(pieces));
  const double start = steady_seconds();
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      volatile double x = 2;
      const double before = thread_seconds();
      arithmetic(x);
      computed[i] = thread_seconds() - before;
    }
  });
  seconds_.push_back(steady_seconds() - start);
  const double used = std::accumulate(computed.begin(), computed.end(), 0.0);
  lost_.push_back(std::max(0.0, 1 - used / (threads() * seconds_.back())));
}

Disturbance Machine::disturbance(const std::vector<std::vector<double>>& groups) const {
  check(!seconds_.empty() && !groups.empty(), "machine: wanted turns and quotients, got {} and {}",
        seconds_.size(), groups.size());
  std::vector<double> spreads;
  for (const std::vector<double>& values : groups) {
    const Spread spread = spread_of(values);
    spreads.push_back((spread.max - spread.min) / spread.median);
  }
  const double least = *std::min_element(seconds_.begin(), seconds_.end());
  return {.lost_share = spread_of(lost_).median,
          .spread = (quantile(seconds_, 0.75) - least) / quantile(seconds_, 0.5),
          .disagreement = spread_of(spreads).median};
}

void publish_machine(Run& run, const Disturbance& seen) {
  run.measured("machine.busy", seen.busy() ? 1 : 0);
  run.measured("machine.lost_share", seen.lost_share);
  run.measured("machine.disturbance", seen.spread);
  run.measured("machine.disagreement", seen.disagreement);
  run.measured("machine.threads", threads());
  double load = Run::no_theory;
  getloadavg(&load, 1);
  run.measured("machine.load", load);
  run.say(
      "The machine was {}: the reference loop lost {:.1f} % of its threads' time (allowed {:.0f}), its\n"
      "turns spread by {:.1f} % ({:.0f}), quotients of times by {:.1f} % ({:.0f}); 1-minute load {:.2f}.\n",
      seen.busy() ? "busy, so these times decide no claim" : "idle", 100 * seen.lost_share,
      100 * Disturbance::most_lost, 100 * seen.spread, 100 * Disturbance::most_spread,
      100 * seen.disagreement, 100 * Disturbance::most_disagreement, load);
}

std::string range_text(const Spread& spread, int digits) {
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", spread.median, digits, spread.min, digits, spread.max,
                     digits);
}

}  // namespace isobar::speed
