#include "object_memory.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>
#include <utility>

#include "address_sanitizer.h"
#include "error.h"
#include "memory.h"

namespace isobar::object_memory {
namespace {

constexpr size_t step = 32, largest = 1024;  // sizes are rounded up to multiples of `step`
constexpr size_t sizes = largest / step + 1;
constexpr size_t slab_bytes = size_t{1} << 16;  // taken from the system at a time, and kept

size_t class_of(size_t bytes) { return bytes == 0 ? 1 : (bytes + step - 1) / step; }

struct Block {
  Block* next;
  Block* next_list;  // of the first block of a shared list
};

// Lists of blocks that threads have to spare, and of threads that have ended, for the next thread that runs out.
// Neither these lists nor the slabs are destroyed: objects may outlive every static.
struct SharedLists {
  std::mutex mutex;
  Block* lists[sizes] = {};
};
SharedLists& shared_lists() {
  static SharedLists* const instance = new SharedLists;
  return *instance;
}

// A thread that frees what others allocate, such as the gradients of pieces, gives away a list of this length: else its
// list would grow, and theirs would take slab after slab.
constexpr int64_t longest = 4096;

// One thread's free blocks. The lists are never destroyed: statics of the main thread may still use them.
struct Lists {
  Block* free[sizes];
  int64_t surplus[sizes];  // blocks freed less blocks allocated since the list was last given away or fetched
  bool end_watched;        // whether a ThreadEnd gives the blocks to the shared lists
};
constinit thread_local Lists lists{};

void give_away(size_t c) {
  Block* const first = std::exchange(lists.free[c], nullptr);
  lists.surplus[c] = 0;
  if (first == nullptr) return;
  std::lock_guard lock(shared_lists().mutex);
  first->next_list = std::exchange(shared_lists().lists[c], first);
}

// Gives the thread's blocks to the shared lists when the thread ends.
struct ThreadEnd {
  ~ThreadEnd() {
    for (size_t c = 0; c < sizes; ++c) give_away(c);
  }
};

// Called once, before the thread's first free block, so that no code reaches a destroyed ThreadEnd.
void watch_thread_end() {
  static thread_local const ThreadEnd end;
  lists.end_watched = true;
}

// Fills the list of size class c from the shared lists, or from a new slab, lowest address first.
void refill(size_t c) {
  if (!lists.end_watched) watch_thread_end();
  lists.surplus[c] = 0;
  {
    std::lock_guard lock(shared_lists().mutex);
    Block*& shared = shared_lists().lists[c];
    if (shared != nullptr) lists.free[c] = std::exchange(shared, shared->next_list);
  }
  if (lists.free[c] != nullptr) return;
  char* const slab = static_cast<char*>(std::aligned_alloc(64, slab_bytes));
  check(slab != nullptr, "object_memory: the system refused {} bytes", slab_bytes);
  for (size_t end = slab_bytes / (c * step) * (c * step); end > 0; end -= c * step)
    lists.free[c] = new (slab + end - c * step) Block{lists.free[c], nullptr};
}

}  // namespace

void* allocate(size_t bytes) {
  if (watched() || bytes > largest) return memory::allocate(bytes);
  const size_t c = class_of(bytes);
  if (lists.free[c] == nullptr) refill(c);
  --lists.surplus[c];
  return std::exchange(lists.free[c], lists.free[c]->next);
}

void release(void* block, size_t bytes) noexcept {
  if (watched() || bytes > largest) return memory::release(block, bytes);
  if (!lists.end_watched) watch_thread_end();
  const size_t c = class_of(bytes);
  lists.free[c] = new (block) Block{lists.free[c], nullptr};
  if (++lists.surplus[c] == longest) [[unlikely]]
    give_away(c);
}

}  // namespace isobar::object_memory
