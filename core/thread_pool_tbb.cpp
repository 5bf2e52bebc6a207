#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include "thread_pool.h"

namespace isobar {

struct ThreadPool::Threads {
  explicit Threads(int count) : allowed(tbb::global_control::max_allowed_parallelism, count), arena(count) {}
  tbb::global_control allowed;
  tbb::task_arena arena;
};

ThreadPool::ThreadPool(int count) : count_(count), threads_(std::make_unique<Threads>(count)) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::run(int64_t n, const RangeBody& body) {
  // isolate: a thread that waits here may only take calls of this loop. Without it, it could start another
  // caller's work in the middle of ours and mix up thread-local state.
  threads_->arena.execute([&] {
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(int64_t{0}, n, [&](int64_t i) { body(i, i + 1); }); });
  });
}

}  // namespace isobar
