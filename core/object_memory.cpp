#include "object_memory.h"

#include <cstdlib>
#include <new>

#include "address_sanitizer.h"
#include "error.h"
#include "free_lists.h"
#include "memory.h"

namespace isobar::object_memory {
namespace {

constexpr size_t step = 32, largest = 1024;     // sizes are rounded up to multiples of `step`
constexpr size_t slab_bytes = size_t{1} << 16;  // taken from the system at a time, and kept

size_t class_of(size_t bytes) { return bytes == 0 ? 1 : (bytes + step - 1) / step; }

struct Block {
  Block *next, *next_list;
};
using Blocks = FreeLists<Block, largest / step + 1>;

// Blocks of size class c, lowest address first.
Block* new_slab(size_t c) {
  char* const slab = static_cast<char*>(std::aligned_alloc(64, slab_bytes));
  check(slab != nullptr, "object_memory: the system refused {} bytes", slab_bytes);
  Block* first = nullptr;
  for (size_t end = slab_bytes / (c * step) * (c * step); end > 0; end -= c * step)
    first = new (slab + end - c * step) Block{first, nullptr};
  return first;
}

}  // namespace

void* allocate(size_t bytes) {
  if (watched() || bytes > largest) return memory::allocate(bytes);
  const size_t c = class_of(bytes);
  return Blocks::take(c, [c] { return new_slab(c); });
}

void release(void* block, size_t bytes) noexcept {
  if (watched() || bytes > largest) return memory::release(block, bytes);
  Blocks::give_back(class_of(bytes), new (block) Block);
}

}  // namespace isobar::object_memory
