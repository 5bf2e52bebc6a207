#include "heap.h"

#include <atomic>
#include <cstdlib>
#include <new>

std::atomic<bool> counting = false;
std::atomic<int64_t> allocations = 0;

// The forms for arrays and those that do not throw call this one.
void* operator new(size_t bytes) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* block = std::malloc(bytes > 0 ? bytes : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace isobar::bench {

void count_heap_allocations(bool on) { counting = on; }
int64_t heap_allocations() { return allocations; }

}  // namespace isobar::bench
