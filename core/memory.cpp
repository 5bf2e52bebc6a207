#include "memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "error.h"

#if defined(__SANITIZE_ADDRESS__)
#define ISOBAR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ISOBAR_ASAN 1
#endif
#endif
#ifdef ISOBAR_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace isobar::memory {
namespace {

constexpr size_t alignment = 64;
constexpr int class_count = 4 * 64;

// Class c holds blocks of (4 + c % 4) / 4 · 2^(c / 4) bytes.
int class_of(size_t bytes) {
  const size_t size = std::max<size_t>(bytes, 256);
  const int power = std::bit_width(size - 1) - 1;  // 2^power < size <= 2^(power + 1)
  const size_t quarter = size_t{1} << (power - 2);
  const int step = static_cast<int>((size - (size_t{1} << power) + quarter - 1) / quarter);  // 1 … 4
  return 4 * power + step;
}

size_t class_bytes(int c) { return (size_t{1} << (c / 4 - 2)) * (4 + c % 4); }

// Marks memory as untouchable or usable for AddressSanitizer, which else would not see an overflow into a
// block that we keep.
void poison([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef ISOBAR_ASAN
  ASAN_POISON_MEMORY_REGION(block, bytes);
#endif
}
void unpoison([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef ISOBAR_ASAN
  ASAN_UNPOISON_MEMORY_REGION(block, bytes);
#endif
}

// Held for some twenty instructions: a waiting thread spins.
class SpinLock {
 public:
  void lock() {
    while (held_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { held_.clear(std::memory_order_release); }

 private:
  std::atomic_flag held_;
};

constexpr size_t huge_page = size_t{1} << 21;

// Large blocks ask for huge pages: the walk over them then meets 512 times fewer page-table entries. Blocks
// that begin alike would compete for the same sets of the caches and banks of the memory, so each starts a
// little further into its pages than the last. The true start stands in front of the block.
void* large_block(size_t size) {
  static std::atomic<unsigned> count{0};
  const size_t offset = alignment + count++ % 16 * (4096 + 4 * alignment);
  void* const start = std::aligned_alloc(huge_page, (size + offset + huge_page - 1) / huge_page * huge_page);
  if (start == nullptr) return nullptr;
  madvise(start, size + offset, MADV_HUGEPAGE);
  char* const block = static_cast<char*>(start) + offset;
  std::memcpy(block - sizeof start, &start, sizeof start);
  return block;
}

void* system_block(size_t size) {
  return size < huge_page ? std::aligned_alloc(alignment, size) : large_block(size);
}

void free_system_block(void* block, size_t size) {
  if (size >= huge_page) std::memcpy(&block, static_cast<char*>(block) - sizeof block, sizeof block);
  std::free(block);
}

struct Cache {
  SpinLock mutex;
  std::vector<void*> free[class_count];
  Stats stats{};
  size_t limit = size_t{16} << 30;

  void trim_locked() {
    for (int c = 0; c < class_count; ++c) {
      for (void* block : free[c]) {
        unpoison(block, class_bytes(c));
        free_system_block(block, class_bytes(c));
      }
      free[c].clear();
    }
    stats.cached_bytes = 0;
  }
};

// Never destroyed: tensors with static lifetime may outlive every other static.
Cache& cache() {
  static Cache* const instance = new Cache;
  return *instance;
}

}  // namespace

void* allocate(size_t bytes) {
  check(bytes <= (size_t{1} << 60), "memory: a block of {} bytes is more than any machine has", bytes);
  const int c = class_of(bytes);
  const size_t size = class_bytes(c);
  Cache& all = cache();
  std::lock_guard lock(all.mutex);
  void* block;
  if (!all.free[c].empty()) {
    block = all.free[c].back();
    all.free[c].pop_back();
    all.stats.cached_bytes -= size;
  } else {
    block = system_block(size);
    if (block == nullptr) {
      all.trim_locked();
      block = system_block(size);
    }
    check(block != nullptr, "memory: the system refused {} bytes ({} in use)", size, all.stats.bytes_in_use);
    ++all.stats.system_blocks;
    poison(block, size);
  }
  unpoison(block, bytes);
  all.stats.bytes_in_use += size;
  all.stats.peak_bytes = std::max(all.stats.peak_bytes, all.stats.bytes_in_use);
  return block;
}

void release(void* block, size_t bytes) noexcept {
  const int c = class_of(bytes);
  const size_t size = class_bytes(c);
  Cache& all = cache();
  std::lock_guard lock(all.mutex);
  all.stats.bytes_in_use -= size;
  if (all.stats.cached_bytes + size > all.limit) {
    unpoison(block, size);
    free_system_block(block, size);
    return;
  }
  poison(block, size);
  all.free[c].push_back(block);
  all.stats.cached_bytes += size;
}

Stats stats() {
  std::lock_guard lock(cache().mutex);
  return cache().stats;
}

void reset_peak() {
  std::lock_guard lock(cache().mutex);
  cache().stats.peak_bytes = cache().stats.bytes_in_use;
}

void trim() {
  std::lock_guard lock(cache().mutex);
  cache().trim_locked();
}

void set_cache_limit(size_t bytes) {
  std::lock_guard lock(cache().mutex);
  cache().limit = bytes;
  if (cache().stats.cached_bytes > bytes) cache().trim_locked();
}

}  // namespace isobar::memory
