#include "object_memory.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "error.h"
#include "memory.h"

namespace isobar::object_memory {
namespace {

constexpr size_t step = 32, largest = 1024;  // sizes are rounded up to multiples of `step`
constexpr size_t sizes = largest / step + 1;
constexpr size_t slab_bytes = size_t{1} << 16;  // taken from the system at a time, and kept
std::atomic<size_t> slab_count{0};

size_t class_of(size_t bytes) { return bytes == 0 ? 1 : (bytes + step - 1) / step; }

struct Block {
  Block* next;
};

// Blocks of threads that have ended, for the next that runs out. Never destroyed, like the slabs: objects may
// outlive every static.
struct Orphans {
  std::mutex mutex;
  Block* free[sizes] = {};
};
Orphans& orphans() {
  static Orphans* const instance = new Orphans;
  return *instance;
}

struct Lists {
  Block* free[sizes] = {};

  ~Lists() {
    std::lock_guard lock(orphans().mutex);
    for (size_t c = 0; c < sizes; ++c)
      while (free[c] != nullptr) {
        Block* const block = std::exchange(free[c], free[c]->next);
        block->next = std::exchange(orphans().free[c], block);
      }
  }

  // Blocks of size class c: another thread's, or a new slab cut into pieces, first ones first.
  void refill(size_t c) {
    {
      std::lock_guard lock(orphans().mutex);
      free[c] = std::exchange(orphans().free[c], nullptr);
    }
    if (free[c] != nullptr) return;
    char* const slab = static_cast<char*>(std::aligned_alloc(64, slab_bytes));
    check(slab != nullptr, "object_memory: the system refused {} bytes", slab_bytes);
    ++slab_count;
    for (size_t end = slab_bytes / (c * step) * (c * step); end > 0; end -= c * step)
      free[c] = new (slab + end - c * step) Block{free[c]};
  }
};
thread_local Lists lists;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool watched = true;
#elif defined(__has_feature)
constexpr bool watched = __has_feature(address_sanitizer);
#else
constexpr bool watched = false;
#endif

}  // namespace

void* allocate(size_t bytes) {
  if (watched || bytes > largest) return memory::allocate(bytes);
  const size_t c = class_of(bytes);
  if (lists.free[c] == nullptr) lists.refill(c);
  return std::exchange(lists.free[c], lists.free[c]->next);
}

void release(void* block, size_t bytes) noexcept {
  if (watched || bytes > largest) return memory::release(block, bytes);
  Block*& first = lists.free[class_of(bytes)];
  first = new (block) Block{first};
}

size_t slabs() { return slab_count; }

}  // namespace isobar::object_memory
