#include "parallel.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <exception>
#include <fstream>

#include "control_groups.h"
#include "error.h"
#include "serial_loops.h"
#include "thread_pool.h"

namespace isobar {
namespace {

std::unique_ptr<ThreadPool>& pool() {
  static std::unique_ptr<ThreadPool> instance = std::make_unique<ThreadPool>(available_threads());
  return instance;
}

// Whether a SerialLoops lives on this thread.
constinit thread_local bool serial = false;

// The lowest CPU quota of the control groups, in CPUs; infinity where there is none.
double cpu_quota() {
  double lowest = INFINITY;
  for (const std::string& folder : control_groups("cpu")) {
    double quota = 0, period = 0;
    std::ifstream both(folder + "/cpu.max");  // version 2: "max 100000" without a quota
    if (!(both >> quota >> period)) {
      std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;  // version 1: -1 without a quota
      std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    }
    if (quota > 0 && period > 0) lowest = std::min(lowest, quota / period);
  }
  return lowest;
}

// Returns the number of CPUs on which the process may run. sched_getaffinity() fails with EINVAL if the mask is too small for
// the machine; cpu_set_t has 1024 CPUs.
int affinity() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cpus),
                                                               [](cpu_set_t* s) { CPU_FREE(s); });
    const size_t bytes = CPU_ALLOC_SIZE(cpus);
    if (set != nullptr && sched_getaffinity(0, bytes, set.get()) == 0) return CPU_COUNT_S(bytes, set.get());
    if (errno != EINVAL) break;
  }
  return 1;
}

}  // namespace

constinit thread_local bool parallel::inside = false;

void parallel::run_chunks(int64_t n, int64_t grain, const RangeBody& body) {
  check(grain > 0, "parallel_for: wanted a grain above 0, got {}", grain);
  if (n <= 0) return;
  const int64_t chunks = chunk_count(n, grain);
  const auto run_chunk = [&](int64_t chunk, int64_t next) {
    const Inside guard;
    body(chunk * grain, std::min(n, next * grain));
  };
  if (inside || threads() == 1) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) run_chunk(chunk, chunk + 1);
  } else {
    pool()->run(chunks, run_chunk);
  }
}

void parallel_tasks(int64_t n, const std::function<void(int64_t)>& task) {
  check(!parallel::inside, "parallel_tasks: tasks may not begin inside parallel_for");
  std::vector<std::exception_ptr> failures(static_cast<size_t>(std::max<int64_t>(n, 0)));
  const auto run = [&](int64_t i, int64_t) {
    const SerialLoops loops;
    try {
      task(i);
    } catch (...) {
      failures[static_cast<size_t>(i)] = std::current_exception();
    }
  };
  if (threads() == 1)
    for (int64_t i = 0; i < n; ++i) run(i, i + 1);
  else if (n > 0)
    pool()->run(n, run);
  for (const std::exception_ptr& failure : failures)
    if (failure != nullptr) std::rethrow_exception(failure);
}

void set_threads(int count) {
  check(count >= 1 && count <= 1024, "threads: wanted 1 to 1024, got {}", count);
  check(!parallel::inside, "threads: the number may not change inside parallel_for");
  check(!serial || count == 1, "threads: wanted 1 where loops are serial, got {}", count);
  if (count == threads()) return;
  // The new pool first: where it cannot be made, the old one stays.
  pool() = std::make_unique<ThreadPool>(count);
}

int threads() { return serial ? 1 : pool()->count(); }

SerialLoops::SerialLoops() : before_(std::exchange(serial, true)) {}
SerialLoops::~SerialLoops() { serial = before_; }

int available_threads() {
  return std::max(1, static_cast<int>(std::min<double>(affinity(), std::ceil(cpu_quota()))));
}

}  // namespace isobar
