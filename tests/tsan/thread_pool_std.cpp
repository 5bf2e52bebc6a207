// The pool of builds under ThreadSanitizer, which sees all of its threads.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "../../core/thread_pool.h"

namespace isobar {
namespace {

// One call of run(). It lives on its caller's stack.
struct Loop {
  const int64_t n;
  const RangeBody& body;
  std::atomic<int64_t> next = 0;
  int helpers = 0;             // threads that work on it beside the caller; under the pool's mutex
  std::exception_ptr failure;  // the first one; under the pool's mutex

  // Relaxed, so that taking a number orders nothing: a race between two calls of the body stays visible.
  bool take(int64_t& i) { return (i = next.fetch_add(1, std::memory_order_relaxed)) < n; }
  void stop() { next.store(n, std::memory_order_relaxed); }
};

}  // namespace

struct ThreadPool::Threads {
  explicit Threads(int count) {
    for (int i = 1; i < count; ++i) helpers.emplace_back([this] { help(); });
  }
  ~Threads() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
    }
    changed.notify_all();
    for (std::thread& helper : helpers) helper.join();
  }

  // Calls the body for numbers that nobody has taken, until there are none.
  void work(Loop& loop) {
    for (int64_t i = 0; loop.take(i);) try {
        loop.body(i, i + 1);
      } catch (...) {
        loop.stop();
        const std::lock_guard lock(mutex);
        if (loop.failure == nullptr) loop.failure = std::current_exception();
      }
  }
  // A helper's life: one loop after the other.
  void help() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ended || !loops.empty(); });
      if (ended) return;
      Loop& loop = *loops.front();
      ++loop.helpers;
      lock.unlock();
      work(loop);
      lock.lock();
      std::erase(loops, &loop);  // all its numbers are taken
      if (--loop.helpers == 0) changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Loop*> loops;  // those with numbers to take, under the mutex; so is `ended`
  bool ended = false;
  std::vector<std::thread> helpers;  // they use all of the above
};

ThreadPool::ThreadPool(int count) : count_(count), threads_(std::make_unique<Threads>(count)) {}
ThreadPool::~ThreadPool() = default;

void ThreadPool::run(int64_t n, const RangeBody& body) {
  Loop loop{.n = n, .body = body};
  {
    const std::lock_guard lock(threads_->mutex);
    threads_->loops.push_back(&loop);
  }
  threads_->changed.notify_all();
  threads_->work(loop);
  std::unique_lock lock(threads_->mutex);
  std::erase(threads_->loops, &loop);
  threads_->changed.wait(lock, [&] { return loop.helpers == 0; });
  if (loop.failure != nullptr) std::rethrow_exception(loop.failure);
}

}  // namespace isobar
