// How often this program asks operator new for memory. It replaces operator new, and counts only while asked
// to. Blocks of tensor storage and nodes of a tape come from allocators of their own and are not in this
// count, unless those take new memory.
#pragma once

#include <cstdint>

namespace isobar::bench {

void count_heap_allocations(bool on);
int64_t heap_allocations();

}  // namespace isobar::bench
