#include "timing.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "../../core/memory.h"

namespace isobar::bench {

// Steps before the timing: ten, for the libraries below fetch pages of their own now and then at first; of
// long steps, which take longer than these seconds, three.
constexpr int warm_up_steps = 10, least_warm_up_steps = 3;
constexpr double warm_up_seconds = 1;

// What the process has asked of the system so far.
struct Counters {
  int64_t page_faults = 0, storage_allocations = 0;
};
Counters counters() {
  Counters now{.storage_allocations = static_cast<int64_t>(memory::stats().system_blocks)};
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    now.page_faults += usage.ru_minflt + usage.ru_majflt;
  }
  return now;
}

void warm_up(const Step& step, double seconds = warm_up_seconds) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const auto elapsed = [start] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  for (int i = 0; i < warm_up_steps && (i < least_warm_up_steps || elapsed() < seconds); ++i) step();
}

// Keeps the repetitions; prints nothing.
struct Collector : benchmark::BenchmarkReporter {
  std::vector<double> seconds;  // of a step, by repetition
  Timing sums;

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      seconds.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
      sums.steps += run.iterations;
      sums.page_faults += static_cast<int64_t>(run.counters.at("page_faults"));
      sums.storage_allocations += static_cast<int64_t>(run.counters.at("storage_allocations"));
    }
  }
};

Timing time_step(const Step& step, const TimingOptions& options) {
  warm_up(step, std::min(warm_up_seconds, 5 * options.min_seconds));
  auto* timed = benchmark::RegisterBenchmark("step", [&step](benchmark::State& state) {
    Counters before;
    bool begun = false;
    for (auto _ : state) {
      // Not earlier: the first use of the timer brings in pages of its own.
      if (!std::exchange(begun, true)) before = counters();
      step();
    }
    const Counters after = counters();
    state.counters["page_faults"] = static_cast<double>(after.page_faults - before.page_faults);
    state.counters["storage_allocations"] =
        static_cast<double>(after.storage_allocations - before.storage_allocations);
  });
  timed->UseRealTime();
  if (options.steps > 0)
    timed->Iterations(options.steps);
  else
    timed->MinTime(options.min_seconds)->Repetitions(static_cast<int>(options.repetitions));
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();

  std::vector<double>& seconds = collector.seconds;
  std::sort(seconds.begin(), seconds.end());
  Timing timing = collector.sums;
  timing.median_seconds = seconds[seconds.size() / 2];
  timing.min_seconds = seconds.front();
  return timing;
}

Counts count_step(const Step& step) {
  constexpr int counted = 4;
  warm_up(step);
  const Counters before = counters();
  const int64_t heap_before = heap_allocations;
  counting_heap = true;
  for (int i = 0; i < counted; ++i) step();
  counting_heap = false;
  const int64_t heap = heap_allocations - heap_before;
  const Counters after = counters();

  memory::reset_peak();
  const size_t bytes_before = memory::stats().bytes_in_use;
  step();
  return {.step_bytes = static_cast<int64_t>(memory::stats().peak_bytes - bytes_before),
          .page_faults = static_cast<double>(after.page_faults - before.page_faults) / counted,
          .storage_allocations =
              static_cast<double>(after.storage_allocations - before.storage_allocations) / counted,
          .heap_allocations = static_cast<double>(heap) / counted};
}

}  // namespace isobar::bench
