#include "each.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>

#include "../../core/parallel.h"
#include "../../core/profile.h"
#include "workers.h"

namespace isobar {
namespace {

// Hands out the numbers 0 … n − 1 and remembers what became of each.
class Items {
 public:
  explicit Items(int64_t n) : n_(n), ended_(static_cast<size_t>(n)), failures_(static_cast<size_t>(n)) {}

  // A thread's work: one item after the other, until none is left.
  void work(const std::function<void(int64_t)>& item) {
    for (int64_t i = next_++; i < n_; i = next_++) {
      std::exception_ptr failure;
      try {
        item(i);
      } catch (...) {
        failure = std::current_exception();
        stop();
      }
      {
        const std::lock_guard lock(mutex_);
        ended_[static_cast<size_t>(i)] = true;
        failures_[static_cast<size_t>(i)] = failure;
      }
      changed_.notify_one();
    }
  }
  // Waits for the end of item i; rethrows what it threw. Lower numbers begin earlier, so the items before one
  // that failed have all begun, and a caller that waits for 0, 1, … meets the failure of lowest number.
  void wait(int64_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_[static_cast<size_t>(i)]; });
    if (failures_[static_cast<size_t>(i)] != nullptr)
      std::rethrow_exception(failures_[static_cast<size_t>(i)]);
  }
  // No more items begin.
  void stop() { next_ = n_; }

 private:
  const int64_t n_;
  std::atomic<int64_t> next_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<bool> ended_;
  std::vector<std::exception_ptr> failures_;
};

}  // namespace

void run_each(int64_t n, const std::function<void(int64_t)>& item, const std::function<void(int64_t)>& done) {
  if (n <= 0) return;
  Items items(n);
  // A single item may use all threads, unless it belongs to an item itself: then threads() is 1.
  const Workers workers(
      std::min<int64_t>(n, threads()), n > 1 || threads() == 1, [&] { items.work(item); },
      [&] { items.stop(); });
  for (int64_t i = 0; i < n; ++i) {
    {
      const Phase waiting(nullptr);
      items.wait(i);
    }
    done(i);
  }
}

}  // namespace isobar
