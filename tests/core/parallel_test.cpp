// parallel_for: chunk borders, exceptions, nesting, and the same bits for any number of threads.
#include "../../core/parallel.h"

#include <chrono>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "../../core/rng.h"
#include "../../core/serial_loops.h"
#include "../message_of.h"
#include "../sanitizers.h"
#include "../skip.h"
#include "../thread_counts.h"
#include "control_groups.h"

namespace isobar::parallel_test {

// The chunks that one loop makes, in the order of their borders.
std::set<std::pair<int64_t, int64_t>> chunks_of(int64_t n, int64_t grain) {
  std::mutex mutex;
  std::set<std::pair<int64_t, int64_t>> chunks;
  parallel_for(n, grain, [&](int64_t begin, int64_t end) {
    std::lock_guard lock(mutex);
    CHECK(chunks.emplace(begin, end).second);
  });
  return chunks;
}

int threads_under(const TemporaryFolder& control_groups) {
  return answer_under(control_groups, available_threads);
}

TEST_CASE("chunks are cut at multiples of the grain, for any number of threads") {
  for (auto [n, grain] : std::vector<std::pair<int64_t, int64_t>>{
           {1, 1}, {10, 3}, {9, 3}, {3, 100}, {100, 1}, {1000, 7}, {3, INT64_MAX / 2}}) {
    std::set<std::pair<int64_t, int64_t>> wanted;
    for (int64_t begin = 0; begin < n; begin += grain) wanted.emplace(begin, std::min(n, begin + grain));
    for_thread_counts([&, n = n, grain = grain] {
      CHECK(chunks_of(n, grain) == wanted);
      CHECK(static_cast<int64_t>(wanted.size()) == chunk_count(n, grain));
    });
  }
}

TEST_CASE("an exception of the body reaches the caller, and the next loop works") {
  for_thread_counts([] {
    CHECK_THROWS_WITH_AS(
        parallel_for(1000, 1, [](int64_t begin, int64_t) { check(begin != 517, "op: wrong at {}", begin); }),
        "op: wrong at 517", Error);
    CHECK_FALSE(inside_parallel());
    std::atomic<int64_t> sum = 0;
    parallel_for(1000, 10, [&](int64_t begin, int64_t end) { sum += end - begin; });
    CHECK(sum == 1000);
  });
}

TEST_CASE("a nested loop runs serially, in order, on the thread that calls it") {
  for_thread_counts([] {
    std::atomic<int> wrong = 0;
    parallel_for(32, 1, [&](int64_t, int64_t) {
      const auto here = std::this_thread::get_id();
      int64_t next = 0;
      parallel_for(100, 7, [&](int64_t begin, int64_t end) {
        wrong += begin != next || std::this_thread::get_id() != here || !inside_parallel();
        next = end;
      });
      wrong += next != 100 || !inside_parallel();
    });
    CHECK(wrong == 0);
    CHECK_FALSE(inside_parallel());
  });
}

TEST_CASE("an op called inside a body throws, even where the loop has one chunk or one thread") {
  for_thread_counts([] {
    for (int64_t n : {1, 100})
      CHECK_THROWS_WITH_AS(parallel_for(n, 1, [](int64_t, int64_t) { zeros({2}); }),
                           "tensor: ops may not be called inside parallel_for; call kernels there", Error);
  });
}

TEST_CASE("several threads are really used, and no more than asked for") {
  const WithThreads guard(2);
  std::atomic<int> running = 0, most = 0;
  const auto enter = [&] {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) continue;
  };
  // Each of the two chunks waits for the other, which one thread alone could not do; after a minute it gives
  // up.
  parallel_for(2, 1, [&](int64_t, int64_t) {
    enter();
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (most < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    --running;
  });
  CHECK(most == 2);
  parallel_for(1000, 1, [&](int64_t, int64_t) {
    enter();
    std::this_thread::yield();
    --running;
  });
  CHECK(most == 2);
}

TEST_CASE("loops started by several threads at once do not mix") {
  for_thread_counts([] {
    std::vector<int64_t> sums(3, 0);
    std::vector<std::thread> callers;
    for (size_t id = 0; id < sums.size(); ++id)
      callers.emplace_back([id, &sums] {
        // The body leaves a mark in its thread; a chunk of another loop in its middle would overwrite it.
        static thread_local size_t mark = 99;
        std::atomic<int64_t> sum = 0;
        for (int round = 0; round < 10; ++round)
          parallel_for(64, 1, [&](int64_t begin, int64_t end) {
            mark = id;
            parallel_for(8, 1, [&](int64_t, int64_t) { std::this_thread::yield(); });
            if (mark == id) sum += end - begin;
          });
        sums[id] = sum;
      });
    for (std::thread& caller : callers) caller.join();
    CHECK(sums == std::vector<int64_t>(3, 10 * 64));
  });
}

TEST_CASE("a task may call ops, its loops are serial, and threads() is 1 in it") {
  for_thread_counts([] {
    const int before = threads();
    std::vector<double> sums(5);
    std::atomic<int> wrong = 0;
    parallel_tasks(5, [&](int64_t i) {
      const std::thread::id here = std::this_thread::get_id();
      parallel_for(100, 1, [&](int64_t, int64_t) { wrong += std::this_thread::get_id() != here; });
      wrong += threads() != 1 || inside_parallel();
      sums[static_cast<size_t>(i)] = full({3}, static_cast<double>(i)).at({2});
    });
    CHECK(wrong == 0);
    CHECK(sums == std::vector<double>{0, 1, 2, 3, 4});
    CHECK(threads() == before);
  });
}

TEST_CASE("all tasks end, and the failure of the lowest number reaches the caller") {
  for_thread_counts([] {
    std::atomic<int> ended = 0;
    const auto fails_from_three_on = [&](int64_t i) {
      ++ended;
      check(i < 3, "task {}", i);
    };
    CHECK(message_of([&] { parallel_tasks(8, fails_from_three_on); }) == "task 3");
    CHECK(ended == 8);
    parallel_tasks(0, [](int64_t) { FAIL("there is no task"); });
    CHECK_THROWS_WITH_AS(parallel_for(1, 1, [](int64_t, int64_t) { parallel_tasks(1, [](int64_t) {}); }),
                         "parallel_tasks: tasks may not begin inside parallel_for", Error);
  });
}

TEST_CASE("the number of threads is checked and cannot change under a running loop") {
  const int before = threads();
  for (int count : {1, 2}) {
    const WithThreads guard(count);
    CHECK(threads() == count);
    CHECK_THROWS_WITH_AS(parallel_for(4, 1, [](int64_t, int64_t) { set_threads(3); }),
                         "threads: the number may not change inside parallel_for", Error);
    CHECK(threads() == count);
  }
  CHECK(threads() == before);
  CHECK(available_threads() >= 1);
  CHECK(available_threads() <= static_cast<int>(std::thread::hardware_concurrency()));
}

TEST_CASE("a WithThreads that cannot end says so to its caller") {
  const WithThreads two(2);
  std::unique_ptr<SerialLoops> loops;
  const auto end_in_serial_loops = [&] {
    const WithThreads three(3);
    loops = std::make_unique<SerialLoops>();
  };
  CHECK_THROWS_WITH_AS(end_in_serial_loops(), "threads: wanted 1 where loops are serial, got 2", Error);
  loops.reset();
  CHECK(threads() == 3);
}

TEST_CASE("a control group's CPU quota bounds the threads, rounded up, in both versions of control groups") {
  const TemporaryFolder none;
  const int all = threads_under(none);
  if (all == 255) return skip("this system lets no test replace /sys/fs/cgroup");
  cpu_set_t cpus;
  REQUIRE(sched_getaffinity(0, sizeof cpus, &cpus) == 0);
  CHECK(all == std::min(CPU_COUNT(&cpus), 254));
  struct Quota {
    const char *quota, *period;
    int threads;
  };
  for (const Quota& q :
       {Quota{"90000", "100000", 1}, Quota{"150000", "100000", 2}, Quota{"30000", "10000", 3}}) {
    const TemporaryFolder first, second;
    first.write("cpu/cpu.cfs_quota_us", q.quota);
    first.write("cpu/cpu.cfs_period_us", q.period);
    second.write("cpu.max", std::string(q.quota) + " " + q.period);
    CAPTURE(q.quota);
    CHECK(threads_under(first) == std::min(all, q.threads));
    CHECK(threads_under(second) == std::min(all, q.threads));
  }
  const TemporaryFolder first, second;  // without a quota
  first.write("cpu/cpu.cfs_quota_us", "-1");
  first.write("cpu/cpu.cfs_period_us", "100000");
  second.write("cpu.max", "max 100000");
  CHECK(threads_under(first) == all);
  CHECK(threads_under(second) == all);
}

// Sanitizers keep notes about every byte, and do not live under a limit.
#if !defined(WITH_ASAN) && !defined(WITH_TSAN)
TEST_CASE("where there is no memory for other threads, the number of threads stays what it was") {
  if (emulated()) return skip(no_limit_here);
  set_threads(2);
  CHECK(in_child([] {
          take_all_memory();
          bool thrown = false;
          try {
            set_threads(3);
          } catch (const std::bad_alloc&) {
            thrown = true;
          }
          return thrown && threads() == 2 ? 0 : 1;
        }) == 0);
  set_threads(available_threads());
}
#endif

}  // namespace isobar::parallel_test
