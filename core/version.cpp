#include "version.h"

#include <cstddef>
#include <mutex>
#include <utility>

namespace isobar {
namespace {

constexpr size_t slab = 1024;  // versions taken from the system at a time, and kept

// Versions of threads that have ended, for the next thread that runs out.
std::mutex orphans_mutex;
Version* orphans = nullptr;

// The free ones of this thread. The list itself needs no destructor: a static tensor may die after it.
constinit thread_local Version* free_versions = nullptr;

}  // namespace

// Leaves the list to other threads when this one ends.
void Version::bequeath() {
  struct Heir {
    ~Heir() {
      const std::lock_guard lock(orphans_mutex);
      while (free_versions != nullptr) {
        Version* const version = std::exchange(free_versions, free_versions->next_);
        version->next_ = std::exchange(orphans, version);
      }
    }
  };
  static thread_local const Heir heir;
}

Version* Version::take() {
  if (free_versions == nullptr) {
    bequeath();
    const std::lock_guard lock(orphans_mutex);
    free_versions = std::exchange(orphans, nullptr);
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
  // A thread may only free, what others made.
  if (free_versions == nullptr) bequeath();
  version->next_ = std::exchange(free_versions, version);
}

}  // namespace isobar
