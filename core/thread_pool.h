// ThreadPool: the threads of parallel_for. Every build uses thread_pool_tbb.cpp, but for those under
// ThreadSanitizer, which cannot see into a TBB that was compiled without it: tests/tsan/thread_pool_std.cpp.
#pragma once

#include "parallel.h"

namespace isobar {

class ThreadPool {
 public:
  // `count` threads, of which the caller of run() is one.
  explicit ThreadPool(int count);
  ~ThreadPool();
  int count() const { return count_; }

  // Calls body(i, i + 1) for i = 0 … n − 1, on the caller's thread and the others. While it waits, the caller
  // runs nothing but this body. Rethrows what a call threw; calls that have not begun then never begin.
  // Several threads may call it at once.
  void run(int64_t n, const RangeBody& body);

 private:
  struct Threads;
  const int count_;
  const std::unique_ptr<Threads> threads_;
};

}  // namespace isobar
