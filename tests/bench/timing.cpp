#include "timing.h"

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>

#include "../../core/memory.h"

namespace isobar::bench {
namespace {

constexpr int warm_up_steps = 3;

int64_t page_faults() {
  int64_t faults = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    faults += usage.ru_minflt + usage.ru_majflt;
  }
  return faults;
}

int64_t storage_allocations() { return static_cast<int64_t>(memory::stats().system_blocks); }

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

}  // namespace

Timing time_step(const Step& step, const TimingOptions& options) {
  for (int i = 0; i < warm_up_steps; ++i) step();

  auto* timed = benchmark::RegisterBenchmark("step", [&step](benchmark::State& state) {
    const int64_t faults = page_faults(), allocations = storage_allocations();
    for (auto _ : state) step();
    state.counters["page_faults"] = static_cast<double>(page_faults() - faults);
    state.counters["storage_allocations"] = static_cast<double>(storage_allocations() - allocations);
  });
  timed->UseRealTime();
  if (options.steps > 0)
    timed->Iterations(options.steps);
  else
    timed->MinTime(options.min_seconds)->Repetitions(options.repetitions);
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

}  // namespace isobar::bench
