#include "version.h"

#include <cstddef>
#include <mutex>
#include <utility>

namespace isobar {
namespace {

constexpr size_t slab = 1024;  // versions taken from the system at a time, and kept

// Versions that threads have to spare, and those of threads that have ended, for the next thread that runs out.
std::mutex shared_mutex;
Version* shared = nullptr;

// This thread's free versions. The list needs no destructor, so a static tensor may be destroyed after it.
constinit thread_local Version* free_versions = nullptr;

// Versions given back less versions taken, since the list was last fetched or given away. A thread that frees what others
// allocate, such as the gradients of pieces, gives its list away at this surplus: else theirs would take slab after slab.
constinit thread_local int64_t surplus = 0;
constexpr int64_t largest_surplus = 4096;

// Gives this thread's free versions to other threads. `next` is the link from one to the next.
void give_away(Version* Version::*next) {
  const std::lock_guard lock(shared_mutex);
  while (free_versions != nullptr) {
    Version* const version = std::exchange(free_versions, free_versions->*next);
    version->*next = std::exchange(shared, version);
  }
  surplus = 0;
}

}  // namespace

void Version::share_at_thread_end() {
  struct ThreadEnd {
    ~ThreadEnd() { give_away(&Version::next_); }
  };
  static thread_local const ThreadEnd end;
}

Version* Version::take() {
  if (free_versions == nullptr) {
    share_at_thread_end();
    surplus = 0;
    const std::lock_guard lock(shared_mutex);
    free_versions = std::exchange(shared, nullptr);
    if (free_versions == nullptr) {
      auto* const fresh = new Version[slab];
      for (size_t i = 0; i + 1 < slab; ++i) fresh[i].next_ = &fresh[i + 1];
      free_versions = fresh;
    }
  }
  --surplus;
  return std::exchange(free_versions, free_versions->next_);
}

void Version::give_back(Version* version) noexcept {
  version->stamp_.store(((version->stamp() >> 32) + 1) << 32, std::memory_order_relaxed);
  // This thread may never have called take(): it frees what other threads made.
  if (free_versions == nullptr) share_at_thread_end();
  version->next_ = std::exchange(free_versions, version);
  if (++surplus == largest_surplus) give_away(&Version::next_);
}

}  // namespace isobar
