#include "memory.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "address_sanitizer.h"
#include "control_groups.h"
#include "error.h"

#ifdef ISOBAR_VALGRIND
#include <valgrind/memcheck.h>
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

// Marks memory as unusable or usable for memcheck, which otherwise would not see an access to a kept block.
// Usable memory holds nothing yet.
void poison([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef ISOBAR_VALGRIND
  VALGRIND_MAKE_MEM_NOACCESS(block, bytes);
#endif
}
void unpoison([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef ISOBAR_VALGRIND
  VALGRIND_MAKE_MEM_UNDEFINED(block, bytes);
#endif
}

// Held for about twenty instructions, so a waiting thread spins.
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

// Large blocks use huge pages, which need 512 times fewer page-table entries. Blocks at the same offset in
// their pages would compete for the same cache sets and memory banks, so each block starts at a larger offset
// than the one before, in 16 steps. The 8 bytes before the block hold the address that the system returned.
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

// AddressSanitizer knows the size that was asked for, who asked and who freed, and is slow to hand out a
// freed block again: where it watches, nothing is rounded up or kept here. It does not see that a number is
// read before it was written: such a number is NaN.
void* watched_block(size_t bytes) {
  void* block = nullptr;
  return posix_memalign(&block, alignment, bytes) == 0 ? std::memset(block, 0xff, bytes) : nullptr;
}

// A block of `size` bytes, of which `bytes` were asked for.
void* system_block(size_t size, size_t bytes) {
  if (watched()) return watched_block(bytes);
  return size < huge_page ? std::aligned_alloc(alignment, size) : large_block(size);
}

void free_system_block(void* block, size_t size) {
  if (size >= huge_page && !watched())
    std::memcpy(&block, static_cast<char*>(block) - sizeof block, sizeof block);
  std::free(block);
}

// The last bytes of a freed block of class c hold the address of the next one of its class. Keeping a block
// allocates nothing, so it cannot fail.
void*& link_of(void* block, int c) {
  return *reinterpret_cast<void**>(static_cast<char*>(block) + class_bytes(c) - sizeof(void*));
}

constexpr size_t cached_at_least = size_t{256} << 20;  // in any case, where limit() allows it

// Freed blocks are kept in several lists per class, one for each thread that runs (or for some of them, where
// there are more threads). A thread gets back the blocks that it freed, which are in the caches of its core:
// two trainings side by side are a seventh slower where they exchange their blocks all the time.
constexpr int list_count = 16;

int own_list() {
  static std::atomic<unsigned> threads{0};
  static thread_local const int own = static_cast<int>(threads++ % list_count);
  return own;
}

// The freed blocks and the statistics. System calls are made without the lock.
class Cache {
 public:
  // A kept block of class c, of this thread's list if it has one, else of any; or null.
  void* take(int c) {
    const int own = own_list();
    std::lock_guard lock(mutex_);
    void** list = &free_[own][c];
    for (int other = 0; *list == nullptr && other < list_count; ++other) list = &free_[other][c];
    void* const block = *list;
    if (block == nullptr) return nullptr;
    *list = link_of(block, c);
    stats_.cached_bytes -= class_bytes(c);
    count_in_use(c);
    return block;
  }
  // A block of class c from the system, for that many bytes; throws Error.
  void* fetch(int c, size_t bytes) {
    const size_t size = class_bytes(c);
    make_room(size);
    void* block = system_block(size, bytes);
    if (block == nullptr) {
      trim();
      block = system_block(size, bytes);
    }
    check(block != nullptr, "memory: the system refused {} bytes ({} in use)", size, stats().bytes_in_use);
    poison(block, size);
    std::lock_guard lock(mutex_);
    ++stats_.system_blocks;
    count_in_use(c);
    return block;
  }
  // Keeps a block of class c. Returns false where the limit is reached, or none are kept.
  bool keep(void* block, int c) {
    const size_t size = class_bytes(c);
    void*& list = free_[own_list()][c];
    std::lock_guard lock(mutex_);
    stats_.bytes_in_use -= size;
    if (watched() || stats_.bytes_in_use + stats_.cached_bytes + size > limit_) return false;
    poison(block, size);
    unpoison(&link_of(block, c), sizeof(void*));
    link_of(block, c) = std::exchange(list, block);
    stats_.cached_bytes += size;
    return true;
  }
  void trim() {
    void* kept[list_count][class_count] = {};
    {
      std::lock_guard lock(mutex_);
      std::swap(kept, free_);
      stats_.cached_bytes = 0;
      largest_ = stats_.bytes_in_use;
    }
    for (auto& lists : kept)
      for (int c = 0; c < class_count; ++c) free_list(lists[c], c);
  }
  Stats stats() {
    std::lock_guard lock(mutex_);
    return stats_;
  }
  void reset_peak() {
    std::lock_guard lock(mutex_);
    stats_.peak_bytes = stats_.bytes_in_use;
  }
  size_t limit() {
    std::lock_guard lock(mutex_);
    return limit_;
  }
  void set_limit(size_t bytes) {
    {
      std::lock_guard lock(mutex_);
      limit_ = bytes;
    }
    make_room(0);
  }

 private:
  void count_in_use(int c) {
    used_[c] = ++uses_;
    stats_.bytes_in_use += class_bytes(c);
    stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.bytes_in_use);
    largest_ = std::max(largest_, stats_.bytes_in_use);
  }
  // Before `size` bytes come from the system: gives cached blocks back until no more is in use and cached
  // than memory.h says. A training whose steps are alike does not come here.
  void make_room(size_t size) {
    while (true) {
      void* block = nullptr;
      int c = -1;
      {
        std::lock_guard lock(mutex_);
        const size_t in_use = stats_.bytes_in_use + size;
        const size_t most = std::min(std::max(cached_at_least, 2 * std::max(largest_, in_use)),
                                     limit_ - std::min(limit_, in_use));
        if (stats_.cached_bytes <= most) return;
        c = least_recent();
        for (auto& lists : free_)
          if (lists[c] != nullptr) {
            block = std::exchange(lists[c], link_of(lists[c], c));
            break;
          }
        stats_.cached_bytes -= class_bytes(c);
      }
      unpoison(block, class_bytes(c));
      free_system_block(block, class_bytes(c));
    }
  }
  // Of the classes with cached blocks, the one that was used least recently.
  int least_recent() const {
    int least = -1;
    for (int c = 0; c < class_count; ++c)
      if ((least < 0 || used_[c] < used_[least]) &&
          std::any_of(std::begin(free_), std::end(free_),
                      [c](const auto& lists) { return lists[c] != nullptr; }))
        least = c;
    return least;
  }
  static void free_list(void* block, int c) {
    while (block != nullptr) {
      void* const next = link_of(block, c);
      unpoison(block, class_bytes(c));
      free_system_block(block, class_bytes(c));
      block = next;
    }
  }

  SpinLock mutex_;
  void* free_[list_count][class_count] = {};
  Stats stats_{};
  size_t limit_ = default_limit(), largest_ = 0;  // the most bytes that were ever in use
  uint64_t uses_ = 0, used_[class_count] = {};  // how many blocks were given out, and the last of each class
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
  void* block = watched() ? nullptr : cache().take(c);
  if (block == nullptr) block = cache().fetch(c, bytes);
  // The link of a kept block was readable; fewer bytes may be asked for.
  poison(block, class_bytes(c));
  unpoison(block, bytes);
  return block;
}

void release(void* block, size_t bytes) noexcept {
  const int c = class_of(bytes);
  if (cache().keep(block, c)) return;
  unpoison(block, class_bytes(c));
  free_system_block(block, class_bytes(c));
}

size_t limit() { return cache().limit(); }
void set_limit(size_t bytes) { cache().set_limit(bytes); }

size_t default_limit() {
  const auto bytes = [](int name) { return static_cast<double>(::sysconf(name)); };
  double most = bytes(_SC_PHYS_PAGES) * bytes(_SC_PAGESIZE);
  for (const std::string& folder : control_groups("memory"))
    for (const char* name : {"/memory.max", "/memory.high", "/memory.limit_in_bytes"}) {
      double allowed = 0;  // without a limit the file says "max", or has a huge number
      if (std::ifstream(folder + name) >> allowed) most = std::min(most, allowed);
    }
  rlimit space{};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    most = std::min(most, static_cast<double>(space.rlim_cur));
  return static_cast<size_t>(most * 0.75);
}

Stats stats() { return cache().stats(); }
void reset_peak() { cache().reset_peak(); }
void trim() { cache().trim(); }

}  // namespace isobar::memory
