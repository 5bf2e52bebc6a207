#include "version.h"

#include <cstddef>
#include <mutex>
#include <utility>

namespace isobar {
namespace {

constexpr size_t slab = 1024;  // versions taken from the system at a time, and kept

// Versions of threads that have ended, for the next thread that runs out.
std::mutex shared_mutex;
Version* shared = nullptr;

// This thread's free versions. The list needs no destructor, so a static tensor may be destroyed after it.
constinit thread_local Version* free_versions = nullptr;

}  // namespace

// Gives this thread's free versions to other threads when it ends.
void Version::share_at_thread_end() {
  struct ThreadEnd {
    ~ThreadEnd() {
      const std::lock_guard lock(shared_mutex);
      while (free_versions != nullptr) {
        Version* const version = std::exchange(free_versions, free_versions->next_);
        version->next_ = std::exchange(shared, version);
      }
    }
  };
  static thread_local const ThreadEnd end;
}

Version* Version::take() {
  if (free_versions == nullptr) {
    share_at_thread_end();
    const std::lock_guard lock(shared_mutex);
    free_versions = std::exchange(shared, nullptr);
    if (free_versions == nullptr) {
      auto* const fresh = new Version[slab];
      for (size_t i = 0; i + 1 < slab; ++i) fresh[i].next_ = &fresh[i + 1];
      free_versions = fresh;
    }
  }
  return std::exchange(free_versions, free_versions->next_);
}

void Version::give_back(Version* version) noexcept {
  version->stamp_.store(((version->stamp() >> 32) + 1) << 32, std::memory_order_relaxed);
  // This thread may never have called take(): it frees what other threads made.
  if (free_versions == nullptr) share_at_thread_end();
  version->next_ = std::exchange(free_versions, version);
}

}  // namespace isobar
