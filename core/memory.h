// The caching allocator. A training step allocates the same sizes again and again; because freed blocks are
// kept, from the second step on no tensor reaches malloc or the kernel's page-fault handler, which for large
// blocks costs more than the arithmetic done on them.
//
// Blocks are 64-byte aligned (a cache line, and an AVX-512 register) and rounded up to one of four size
// classes per power of two. All functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isobar::memory {

struct Stats {
  size_t bytes_in_use;     // handed out now, rounded up to size classes
  size_t peak_bytes;       // highest bytes_in_use since the last reset_peak()
  size_t cached_bytes;     // freed and kept for reuse
  uint64_t system_blocks;  // blocks taken from the system so far
};

// At least `bytes` bytes, not initialised. Throws Error when the system has no more memory.
void* allocate(size_t bytes);
// Frees a block that allocate(bytes) returned. Beyond 16 GiB of cached bytes it is returned to the system.
void release(void* block, size_t bytes) noexcept;

Stats stats();
void reset_peak();
// Returns all cached blocks to the system.
void trim();

}  // namespace isobar::memory
