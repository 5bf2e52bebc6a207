// How often this program asks operator new for memory, counted while asked to. Blocks of tensor storage and nodes
// of a tape come from allocators of their own and are not in this count, unless those take new memory. A source of
// its own: where g++ sees both operators inlined, it warns of a mismatch.
#include <cstdlib>
#include <new>

#include "timing.h"

std::atomic<bool> isobar::bench::counting_heap = false;
std::atomic<int64_t> isobar::bench::heap_allocations = 0;

// The forms for arrays and those that do not throw call this one.
void* operator new(size_t bytes) {
  using namespace isobar::bench;
  if (counting_heap.load(std::memory_order_relaxed)) heap_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* block = std::malloc(bytes > 0 ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }
